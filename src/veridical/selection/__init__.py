"""Feature selectors with scikit-learn's manners: a criterion and a search each."""
