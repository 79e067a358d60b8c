"""How good is a feature, and how much does it repeat another?"""
