// Sums of features over samples: ranges, sums of classes, products with a vector.
//
// What `veridical.kernels.moments` and `similarity` do on processors. A thread has one
// feature, and reads the rows of a part of the samples one after the other, so that
// threads beside each other read values that are stored beside each other. VALUE is the
// type of the features: float, double or whole numbers.
//
// | symbol | meaning                                         | shape        |
// |--------|-------------------------------------------------|--------------|
// | X      | features, one sample per row                    | (N, p)       |
// | rows   | rows of X to sum                                | (m,)         |
// | weight | how often each of them counts                   | (m,)         |
// | bounds | part k is rows bounds[k] to bounds[k + 1]       | (P + 1,)     |
// | origin | what is subtracted from a feature               | (p,)         |
// | sums   | sum of x and of its square, each as a high and  | (P, 4, p)    |
// |        | a low part                                      |              |

typedef long long Long;

#define INF __int_as_float(0x7f800000)

// Fill low[j] and high[j] with the least and the largest value of feature j over some
// rows, and missing[j] with the number of missing values, apart for every part of them.
extern "C" __global__ void fill_ranges(
    const VALUE *X, Long p, const int *rows, int n, double *low, double *high,
    int *missing)
{
    Long j = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= p) return;
    int part = blockIdx.y, n_parts = gridDim.y;
    int begin = (Long)n * part / n_parts, end = (Long)n * (part + 1) / n_parts;
    double least = INF, most = -INF;
    int n_missing = 0;
    for (int i = begin; i < end; i++) {
        double x = X[rows[i] * p + j];
        n_missing += x != x;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    low[part * p + j] = least, high[part * p + j] = most;
    missing[part * p + j] = n_missing;
}

// Add the pair x + x_low to the pair high + low; see `veridical.kernels.exact`.
__device__ void add(double &high, double &low, double x, double x_low)
{
    double total = __dadd_rn(high, x), part = __dsub_rn(total, high);
    double error = __dadd_rn(__dsub_rn(high, __dsub_rn(total, part)), __dsub_rn(x, part));
    high = total;
    low = __dadd_rn(low, __dadd_rn(error, x_low));
}

// Sum x and its square over every part of the rows.
extern "C" __global__ void sum_parts(
    const VALUE *X, Long p, const int *rows, const double *weight, const int *bounds,
    const double *origin, double *sums)
{
    Long j = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= p) return;
    int part = blockIdx.y;
    double from = origin[j], a = 0.0, b = 0.0, q = 0.0, r = 0.0;
    for (int t = bounds[part]; t < bounds[part + 1]; t++) {
        double v = __dsub_rn((double)X[rows[t] * p + j], from), w = weight[t];
        double high = __dmul_rn(v, v), low = __fma_rn(v, v, -high);
        double first = __dmul_rn(v, w);
        add(a, b, first, __fma_rn(v, w, -first));
        double second = __dmul_rn(high, w);
        add(q, r, second, __dadd_rn(__fma_rn(high, w, -second), __dmul_rn(low, w)));
    }
    double *out = sums + 4 * part * p + j;
    out[0] = a, out[p] = b, out[2 * p] = q, out[3 * p] = r;
}

// Add the parts of every class: class k has the parts ends[k] to ends[k + 1].
extern "C" __global__ void add_parts(
    const double *sums, Long p, const int *ends, double *total)
{
    Long j = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= p) return;
    int k = blockIdx.y;
    double a = 0.0, b = 0.0, q = 0.0, r = 0.0;
    for (int part = ends[k]; part < ends[k + 1]; part++) {
        const double *own = sums + 4 * part * p + j;
        add(a, b, own[0], own[p]);
        add(q, r, own[2 * p], own[3 * p]);
    }
    double *out = total + 4 * k * p + j;
    out[0] = a, out[p] = b, out[2 * p] = q, out[3 * p] = r;
}

// Features of a thread: several where they are bytes, which are read together.
constexpr int PACK = sizeof(VALUE) == 1 ? 4 : 1;

struct alignas(PACK * sizeof(VALUE)) Packed {
    VALUE x[PACK];
};

// Sum (x - origin) * weight over all rows, apart for every part of them.
extern "C" __global__ void multiply_parts(
    const VALUE *X, Long p, Long n, const double *weight, const double *origin,
    double *total)
{
    Long j = ((Long)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (j >= p) return;
    int part = blockIdx.y, n_parts = gridDim.y, own = p - j < PACK ? p - j : PACK;
    Long begin = n * part / n_parts, end = n * (part + 1) / n_parts;
    bool aligned = p % PACK == 0 && (size_t)X % sizeof(Packed) == 0;
    double from[PACK], sum[PACK] = {};
    for (int f = 0; f < PACK; f++) from[f] = f < own ? origin[j + f] : 0.0;
#pragma unroll 8
    for (Long i = begin; i < end; i++) {
        Packed row;
        if (aligned)
            row = *(const Packed *)(X + i * p + j);
        else
            for (int f = 0; f < PACK; f++) row.x[f] = f < own ? X[i * p + j + f] : 0;
        double w = weight[i];
#pragma unroll
        for (int f = 0; f < PACK; f++) sum[f] += ((double)row.x[f] - from[f]) * w;
    }
    for (int f = 0; f < own; f++) total[part * p + j + f] = sum[f];
}
