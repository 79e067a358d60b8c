// Sums over all pairs of samples: the Gaussian kernel of features with that of a target.
//
// What `veridical.kernels.hsic` does on processors. A thread has one sample, and goes
// through all others; a block has 128 samples and one feature.
//
// | symbol | meaning                                               | shape        |
// |--------|-------------------------------------------------------|--------------|
// | Z      | standardised features                                 | (B, r)       |
// | counts | how often each sample occurs                          | (r,)         |
// | D      | squared distances over all features, or nothing       | (r, r)       |
// | L      | label kernel                                          | (r, r)       |
// | row    | its row sums over the other samples, copies included  | (r,)         |
// | sums   | the three sums of the criterion, for parts of a row   | (3, B, P)    |

typedef long long Long;

constexpr int THREADS = 128;

// Sum the kernels exp(-gamma d) of every feature, where d is the squared distance in
// this feature or, with `without`, in all others.
extern "C" __global__ void sum_pairs(
    const double *Z, const double *counts, const double *D, int without,
    const double *L, const double *row, int r, double gamma, double *sums)
{
    __shared__ double kept[3][THREADS];
    const double *x = Z + (Long)blockIdx.x * r;
    int a = blockIdx.y * THREADS + threadIdx.x, t = threadIdx.x;
    double near = 0.0, common = 0.0;
    if (a < r) {
        for (int b = 0; b < r; b++) {
            if (b == a) continue;
            Long pair = (Long)b * r + a;
            double d = x[a] - x[b];
            double distance = without ? D[pair] - d * d : d * d;
            double k = exp(-gamma * distance) * counts[b];
            near += k;
            common += k * L[pair];
        }
        near += counts[a] - 1.0;  // copies of a sample are at distance 0
    }
    double own = a < r ? counts[a] : 0.0;
    kept[0][t] = own * common;
    kept[1][t] = own * near;
    kept[2][t] = a < r ? own * near * row[a] : 0.0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            for (int k = 0; k < 3; k++) kept[k][t] += kept[k][t + half];
    }
    if (t < 3)
        sums[((Long)t * gridDim.x + blockIdx.x) * gridDim.y + blockIdx.y] = kept[t][0];
}
