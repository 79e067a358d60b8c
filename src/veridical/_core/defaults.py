"""Defaults that several rooms share; importing them costs nothing."""

#: Number of features to select: of every selector, verb and command.
N_FEATURES_TO_SELECT = 10
