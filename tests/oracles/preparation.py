"""ComBat and Residualize in loops, straight from their definitions."""

import numpy as np


def residuals(values, covariates, train):
    """Subtract least squares on an intercept and covariates, feature by feature."""
    design = np.column_stack([np.ones(len(covariates)), covariates])
    found = np.empty_like(values)
    for j in range(values.shape[1]):
        normal = design[train].T @ design[train]
        beta = np.linalg.solve(normal, design[train].T @ values[train, j])
        found[:, j] = values[:, j] - design @ beta
    return found


def combat(values, batch, covariates, train, *, parametric=True):
    """Johnson, Li and Rabinovic (2007), section 3, with the iterations run out."""
    n_features = values.shape[1]
    labels = sorted(set(batch[train]))
    rows = {b: [i for i in train if batch[i] == b] for b in labels}
    design = np.array(
        [[batch[i] == b for b in labels] + list(covariates[i]) for i in train], float
    )
    k = len(labels)
    alpha, sigma, beta = np.empty(n_features), np.empty(n_features), []
    for j in range(n_features):
        found = np.linalg.solve(design.T @ design, design.T @ values[train, j])
        alpha[j] = sum(len(rows[b]) * found[m] for m, b in enumerate(labels))
        alpha[j] /= len(train)
        sigma[j] = np.sqrt(np.mean((values[train, j] - design @ found) ** 2))
        beta.append(found[k:])
    location = alpha + covariates @ np.array(beta).T
    standard = (values - location) / sigma
    result = values.copy()
    for b in labels:
        inside = standard[rows[b]]
        n = len(inside)
        g_hat, d_hat = inside.mean(axis=0), inside.var(axis=0, ddof=1)
        for j in range(n_features):
            if parametric:
                g_bar, t2 = g_hat.mean(), g_hat.var(ddof=1)
                mean, var = d_hat.mean(), d_hat.var(ddof=1)
                shape, rate = 2 + mean**2 / var, mean + mean**3 / var
                g, d = g_hat[j], d_hat[j]
                for _ in range(200):
                    g = (n * t2 * g_hat[j] + d * g_bar) / (n * t2 + d)
                    total = sum((x - g) ** 2 for x in inside[:, j])
                    d = (rate + total / 2) / (n / 2 + shape - 1)
            else:
                others = [i for i in range(n_features) if i != j]
                weight = np.array(
                    [
                        np.prod(
                            np.exp(-((inside[:, j] - g_hat[i]) ** 2) / (2 * d_hat[i]))
                            / np.sqrt(2 * np.pi * d_hat[i])
                        )
                        for i in others
                    ]
                )
                g = weight @ g_hat[others] / weight.sum()
                d = weight @ d_hat[others] / weight.sum()
            of_batch = [i for i in range(len(values)) if batch[i] == b]
            result[of_batch, j] = (standard[of_batch, j] - g) / np.sqrt(d)
            result[of_batch, j] = result[of_batch, j] * sigma[j] + location[of_batch, j]
    return result
