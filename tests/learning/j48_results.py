"""Figures printed by J48 of Weka 3.6.14, by data file and options.

"all" is trained on all rows, "half" on the rows 0, 2, 4, … and tested on the others;
names declared in the file have their branch though no training sample has them. Each
entry: number of leaves, size of the tree, errors on the training rows; for a half also
the errors on the other rows and the first digits of the SHA-256 of the predictions, one
byte per row holding the place of the class in alphabetical order, from 1.
"""

OPTIONS = {
    "all": {},
    "all, unpruned": {"prune": False},  # -U
    "all, no raising": {"subtree_raising": False},  # -S
    "all, strict": {"confidence": 0.05, "min_samples_leaf": 5},  # -C 0.05 -M 5
    "half": {},
    "half, unpruned": {"prune": False},  # -U
}

J48 = {
    "iris": {
        "all": (5, 9, 3),
        "all, unpruned": (5, 9, 3),
        "all, no raising": (5, 9, 3),
        "all, strict": (4, 7, 4),
        "half": (3, 5, 2, 6, "966f452521ccd3c7"),
        "half, unpruned": (3, 5, 2, 6, "966f452521ccd3c7"),
    },
    "vehicle": {
        "all": (98, 195, 26),
        "all, unpruned": (104, 207, 24),
        "all, no raising": (97, 193, 28),
        "all, strict": (44, 87, 99),
        "half": (40, 79, 48, 129, "e4b9c6067d18e4e5"),
        "half, unpruned": (46, 91, 45, 135, "2be2cee9a7b81d41"),
    },
    "breast_cancer_wisconsin": {
        "all": (14, 27, 13),
        "all, unpruned": (23, 45, 8),
        "all, no raising": (14, 27, 13),
        "all, strict": (6, 11, 25),
        "half": (6, 11, 9, 17, "14409782ff57a932"),
        "half, unpruned": (16, 31, 3, 19, "f19511fce878123c"),
    },
    "soybean_large": {
        "all": (60, 92, 25),
        "all, unpruned": (120, 174, 15),
        "all, no raising": (69, 108, 25),
        "all, strict": (46, 68, 55),
        "half": (49, 73, 19, 40, "054f4d5c17c9e5b4"),
        "half, unpruned": (114, 154, 13, 49, "5f6fff8ef07741bb"),
    },
    "hypothyroid": {
        "all": (7, 13, 18),
        "all, unpruned": (20, 39, 10),
        "all, no raising": (7, 13, 18),
        "all, strict": (4, 7, 23),
        "half": (5, 9, 10, 13, "89e4427864380ca3"),
        "half, unpruned": (8, 15, 9, 15, "cb6003cc5bc490ee"),
    },
    "mushroom": {
        "all": (24, 29, 0),
        "all, unpruned": (24, 29, 0),
        "all, no raising": (24, 29, 0),
        "all, strict": (24, 29, 0),
        "half": (24, 29, 0, 0, "306d3920f69a6bda"),
        "half, unpruned": (24, 29, 0, 0, "306d3920f69a6bda"),
    },
    "kr_vs_kp": {
        "all": (31, 59, 11),
        "all, unpruned": (42, 81, 4),
        "all, no raising": (31, 59, 11),
        "all, strict": (23, 43, 26),
        "half": (24, 45, 6, 12, "54d3d786baadbac6"),
        "half, unpruned": (27, 51, 5, 17, "b483e6cc5cc94ce3"),
    },
    "monks1_train": {
        "all": (12, 18, 20),
        "all, unpruned": (28, 43, 12),
        "all, no raising": (12, 18, 20),
        "all, strict": (4, 5, 33),
        "half": (19, 28, 1, 15, "fbe2cfeb78b57e0d"),
        "half, unpruned": (19, 28, 1, 15, "fbe2cfeb78b57e0d"),
    },
    "monks2_train": {
        "all": (20, 31, 40),
        "all, unpruned": (46, 73, 24),
        "all, no raising": (20, 31, 40),
        "all, strict": (1, 1, 64),
        "half": (15, 23, 12, 37, "d6f9d35ff10cd3ec"),
        "half, unpruned": (22, 35, 8, 38, "302fba59b4dc8c7d"),
    },
    "monks3_train": {
        "all": (9, 12, 8),
        "all, unpruned": (17, 25, 4),
        "all, no raising": (9, 12, 8),
        "all, strict": (9, 12, 8),
        "half": (13, 19, 2, 6, "c9acd55a86e4833e"),
        "half, unpruned": (13, 19, 2, 6, "c9acd55a86e4833e"),
    },
}
