// The nearest samples of every class by Manhattan distance, and sums of differences.
//
// What `veridical.kernels.distance`, `relief` and `relief_sums` do on processors, in the
// same notation. Quick distances are sums in single precision with a bound on their
// error; exact ones, in double precision, decide which of the samples near the k-th are
// neighbours. VALUE is the type of the features, float or double.
//
// | symbol   | meaning                                                   | shape      |
// |----------|-----------------------------------------------------------|------------|
// | X        | features, one sample per row                              | (N, p)     |
// | rows     | row of X of each sample; samples are sorted by class      | (n,)       |
// | asked    | samples whose neighbours are wanted                       | (m,)       |
// | Z        | scaled features, one per row, filled up with zeros        | (q, width) |
// | D        | quick distances of the asked samples to all               | (m, width) |
// | bounds   | class k is samples bounds[k] to bounds[k + 1]             | (K + 1,)   |
// | capacity | most samples in a list of candidates                      |            |
// | index    | candidates of an asked sample in a class, ascending       | (m, K, C)  |
// | cutoff   | all samples within it are candidates                      | (m, K)     |
// | counts   | how often a sample occurs in the training set             | (n,)       |
// | queries  | how often the neighbours of a sample are wanted           | (n,)       |
// | shares   | weight of all neighbours of rank 1 to r, for r = 0 to k   | (k + 1,)   |

#define TILE 128     // samples of a tile of distances, in both directions
#define DEPTH 16     // features of it that are in shared memory at a time
#define THREADS 256  // of a block; each has 8 x 8 distances
#define CAPACITY 256 // largest capacity
#define WARPS 4      // samples that are decided by a block
#define FULL 0xffffffffu

// Relative difference of two distances; with a smaller one they are equal.
#define DISTANCE_TIE 1e-11
// Rounding of the bound itself.
#define MARGIN (1.0 + 1e-6)

typedef long long Long;

#define INF __int_as_float(0x7f800000)

// -- scales ---------------------------------------------------------------------------

// Fill Z with (X - centre) * factor; a factor of 0 leaves a feature out.
extern "C" __global__ void scale_samples(
    const VALUE *X, Long p, const int *rows, int n, const int *columns, int q,
    const double *centre, const double *factor, int depth, int width, float *Z)
{
    __shared__ float tile[32][33];
    int i0 = blockIdx.x * 32, f0 = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y) {
        int i = i0 + r, f = f0 + threadIdx.x;
        float z = 0.0f;
        if (i < n && f < q && factor[f] > 0.0)
            z = (float)(((double)X[rows[i] * p + columns[f]] - centre[f]) * factor[f]);
        tile[r][threadIdx.x] = z;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += blockDim.y) {
        int f = f0 + r, i = i0 + threadIdx.x;
        if (f < depth && i < width) Z[(Long)f * width + i] = tile[threadIdx.x][r];
    }
}

// -- quick distances ------------------------------------------------------------------

__device__ void add_column(const float (*a)[TILE], const float (*b)[TILE], int k,
                           int x, int y, float sum[8][8])
{
    float u[8], v[8];
    *(float4 *)&u[0] = *(const float4 *)&a[k][4 * y];
    *(float4 *)&u[4] = *(const float4 *)&a[k][64 + 4 * y];
    *(float4 *)&v[0] = *(const float4 *)&b[k][4 * x];
    *(float4 *)&v[4] = *(const float4 *)&b[k][64 + 4 * x];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] += fabsf(u[i] - v[j]);
}

// Add the distances over `depth` features to D, or set D to them. With `symmetric` both
// sides are the same samples, and only tiles on and above the diagonal are computed.
extern "C" __global__ void __launch_bounds__(THREADS, 2) add_distances(
    const float *A, Long a_width, const float *B, Long b_width, int depth, int symmetric,
    int accumulate, float *D)
{
    if (symmetric && blockIdx.x < blockIdx.y) return;
    __shared__ __align__(16) float a[2][DEPTH][TILE], b[2][DEPTH][TILE];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    // Each thread reads two groups of four numbers of either side.
    int k0 = t / 32, k1 = k0 + 8, at = 4 * (t % 32);
    const float *from_a = A + (Long)blockIdx.y * TILE + at;
    const float *from_b = B + (Long)blockIdx.x * TILE + at;
    float4 a0 = *(const float4 *)(from_a + k0 * a_width);
    float4 a1 = *(const float4 *)(from_a + k1 * a_width);
    float4 b0 = *(const float4 *)(from_b + k0 * b_width);
    float4 b1 = *(const float4 *)(from_b + k1 * b_width);
    float sum[8][8] = {};
    int side = 0;
    for (int k = 0; k < depth; k += DEPTH) {
        *(float4 *)&a[side][k0][at] = a0;
        *(float4 *)&a[side][k1][at] = a1;
        *(float4 *)&b[side][k0][at] = b0;
        *(float4 *)&b[side][k1][at] = b1;
        __syncthreads();
        if (k + DEPTH < depth) {
            a0 = *(const float4 *)(from_a + (k + DEPTH + k0) * a_width);
            a1 = *(const float4 *)(from_a + (k + DEPTH + k1) * a_width);
            b0 = *(const float4 *)(from_b + (k + DEPTH + k0) * b_width);
            b1 = *(const float4 *)(from_b + (k + DEPTH + k1) * b_width);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; d++) add_column(a[side], b[side], d, x, y, sum);
        side ^= 1;
    }
    float *to = D + (Long)blockIdx.y * TILE * b_width + (Long)blockIdx.x * TILE;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        Long row = i < 4 ? 4 * y + i : 60 + 4 * y + i;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float4 *out = (float4 *)(to + row * b_width + 64 * half + 4 * x);
            float4 value = make_float4(sum[i][4 * half], sum[i][4 * half + 1],
                                       sum[i][4 * half + 2], sum[i][4 * half + 3]);
            if (accumulate) {
                float4 old = *out;
                value.x += old.x, value.y += old.y, value.z += old.z, value.w += old.w;
            }
            *out = value;
        }
    }
}

// Copy the tiles above the diagonal of D to those below.
extern "C" __global__ void mirror(float *D, Long width)
{
    __shared__ float tile[32][33];
    Long i0 = (Long)blockIdx.y * 32, j0 = (Long)blockIdx.x * 32;
    if (j0 / TILE <= i0 / TILE) return;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        tile[r][threadIdx.x] = D[(i0 + r) * width + j0 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        D[(j0 + r) * width + i0 + threadIdx.x] = tile[threadIdx.x][r];
}

// The difference of two values of a categorical or incomplete feature, by Weka's rules;
// see `veridical.kernels.distance.value_difference`.
__device__ double value_difference(double a, double b, double low, double inverse,
                                   int n_vals)
{
    bool no_a = a != a, no_b = b != b;
    if (n_vals > 0) {
        if (no_a || no_b) return 1.0 - 1.0 / n_vals;
        return a == b ? 0.0 : 1.0;
    }
    if (inverse == 0.0) return 0.0;
    if (no_a && no_b) return 1.0;
    if (no_a || no_b) {
        double x = ((no_a ? b : a) - low) * inverse;
        return x > 1.0 - x ? x : 1.0 - x;
    }
    return fabs(a - b) * inverse;
}

// Categorical and incomplete features, and their scales.
struct Mixed {
    const int *columns;
    int size;
    const double *low, *inverse;
    const int *n_vals;
};

__device__ double mixed_distance(const VALUE *a, const VALUE *b, Mixed mixed, int first,
                                 int step)
{
    double sum = 0.0;
    for (int c = first; c < mixed.size; c += step) {
        int j = mixed.columns[c];
        sum += value_difference(a[j], b[j], mixed.low[c], mixed.inverse[c],
                                mixed.n_vals[c]);
    }
    return sum;
}

// Add the distances over these features to D.
extern "C" __global__ void add_mixed(
    const VALUE *X, Long p, const int *rows, int n, const int *asked, int m,
    const int *columns, int size, const double *low, const double *inverse,
    const int *n_vals, Long width, float *D)
{
    int j = blockIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x;
    if (j >= n || i >= m) return;
    Mixed mixed = {columns, size, low, inverse, n_vals};
    double more = mixed_distance(X + rows[asked[i]] * p, X + rows[j] * p, mixed, 0, 1);
    D[i * width + j] = (float)((double)D[i * width + j] + more);
}

// -- candidates -----------------------------------------------------------------------

__device__ void sort_pairs(int *key, float *value, int size)
{
    for (int run = 2; run <= size; run *= 2)
        for (int gap = run / 2; gap > 0; gap /= 2) {
            int t = threadIdx.x, other = t ^ gap;
            if (t < size && other > t && (key[t] > key[other]) == ((t & run) == 0)) {
                int k = key[t];
                float v = value[t];
                key[t] = key[other], value[t] = value[other];
                key[other] = k, value[other] = v;
            }
            __syncthreads();
        }
}

// List the samples of a class that are nearest to an asked sample, about `wanted` of
// them and at least so many. All samples within the cutoff are listed; it is infinite
// where the whole class is. Samples at an infinite distance are left out. Where more
// samples than fit are equally near, the number of candidates is -1.
extern "C" __global__ void __launch_bounds__(THREADS) list_nearest(
    const float *D, Long width, const int *bounds, int wanted, int capacity, int *index,
    float *distance, int *n_listed, float *cutoff)
{
    __shared__ int key[CAPACITY];
    __shared__ float value[CAPACITY];
    __shared__ int found;
    int t = threadIdx.x, n_classes = gridDim.y;
    Long slot = (Long)blockIdx.x * n_classes + blockIdx.y;
    const float *row = D + blockIdx.x * width;
    int begin = bounds[blockIdx.y], end = bounds[blockIdx.y + 1];
    float limit = INF;
    if (end - begin > capacity) {
        // `wanted` of the threads have a least distance within the limit.
        float least = INF;
        for (int j = begin + t; j < end; j += THREADS) least = fminf(least, row[j]);
        value[t] = least;
        key[t] = __float_as_int(least);  // in the order of distances, which are >= 0
        __syncthreads();
        sort_pairs(key, value, THREADS);
        limit = value[wanted - 1];
        __syncthreads();
    }
    if (t == 0) found = 0;
    key[t] = 0x7fffffff;
    __syncthreads();
    for (int j = begin + t; j < end; j += THREADS) {
        float d = row[j];
        if (d <= limit && d < INF) {
            int at = atomicAdd(&found, 1);
            if (at < capacity) key[at] = j, value[at] = d;
        }
    }
    __syncthreads();
    int n = found;
    if (n > capacity) {
        if (t == 0) n_listed[slot] = -1, cutoff[slot] = 0.0f;
        return;
    }
    sort_pairs(key, value, CAPACITY);
    if (t < n) index[slot * capacity + t] = key[t], distance[slot * capacity + t] = value[t];
    if (t == 0) n_listed[slot] = n, cutoff[slot] = limit;
}

// -- decisions ------------------------------------------------------------------------

__device__ double sum_over_warp(double x)
{
    for (int gap = 16; gap > 0; gap /= 2) x += __shfl_xor_sync(FULL, x, gap);
    return x;
}

__device__ double exact_distance(const VALUE *a, const VALUE *b, Long p,
                                 const double *inverse, Mixed mixed)
{
    double sum = 0.0;
    for (Long c = threadIdx.x; c < p; c += 32)
        if (inverse[c] > 0.0) sum += fabs((double)a[c] - (double)b[c]) * inverse[c];
    return sum_over_warp(sum + mixed_distance(a, b, mixed, threadIdx.x, 32));
}

// The weight of all neighbours up to a rank, which need not be whole.
__device__ double share_up_to(double rank, double places, const double *shares,
                              int n_shares)
{
    rank = rank < places ? rank : places;
    if (n_shares == 0) return rank / places;
    int whole = (int)rank < n_shares ? (int)rank : n_shares;
    if (whole == n_shares) return shares[n_shares];
    return shares[whole] + (rank - whole) * (shares[whole + 1] - shares[whole]);
}

struct Candidates {
    int index[CAPACITY];
    float quick[CAPACITY];
    double weight[CAPACITY], exact[CAPACITY];
};

// Keep the candidates that `keep` says, in their order; one call for 32 of them.
__device__ int append(Candidates *own, int at, bool keep, int j, float d, double w)
{
    unsigned mask = __ballot_sync(FULL, keep);
    if (keep) {
        int place = at + __popc(mask & ((1u << threadIdx.x) - 1));
        own->index[place] = j, own->quick[place] = d, own->weight[place] = w;
    }
    __syncwarp();
    return at + __popc(mask);
}

// The quick distance within which candidates weigh `places`; -1 where all weigh less.
__device__ double find_quick(const Candidates *own, int n, double places)
{
    float found = -1.0f;
    for (int e = threadIdx.x; e < n; e += 32) {
        double below = 0.0, d = own->quick[e];
        for (int f = 0; f < n; f++)
            if (own->quick[f] < d || (own->quick[f] == d && f < e)) below += own->weight[f];
        if (below < places && below + own->weight[e] >= places) found = own->quick[e];
    }
    for (int gap = 16; gap > 0; gap /= 2)
        found = fmaxf(found, __shfl_xor_sync(FULL, found, gap));
    return found;
}

// Decide which candidates are neighbours in one training set, and what they weigh. A
// warp decides for one asked sample and class. Exact distances are at least the quick
// ones less `error + relative * quick`, and at most as much more, and `wider` more, which
// is one number for each asked sample: this set may have smaller ranges than that of the
// quick distances. Where the list does not
// hold all samples that may be neighbours, the number of neighbours is -1.
extern "C" __global__ void __launch_bounds__(32 * WARPS) decide(
    const VALUE *X, Long p, const int *rows, const double *inverse, const int *columns,
    int size, const double *mixed_low, const double *mixed_inverse, const int *n_vals,
    const int *asked, int m, const int *classes, int n_classes, int capacity,
    const int *index, const float *distance, const int *n_listed, const float *cutoff,
    const double *counts, const double *queries, const double *class_size, double n,
    int k, const double *shares, int n_shares, double error, double relative,
    const double *wider, int *near, double *near_weight, int *n_near)
{
    extern __shared__ Candidates room[];
    Candidates *own = room + threadIdx.y;
    Long slot = (Long)blockIdx.x * WARPS + threadIdx.y;
    if (slot >= (Long)m * n_classes) return;
    int lane = threadIdx.x, i = asked[slot / n_classes], c = slot % n_classes;
    bool is_own = classes[i] == c;
    double available = class_size[c] - (is_own ? 1.0 : 0.0), n_queries = queries[i];
    if (lane == 0) n_near[slot] = 0;
    if (!(n_queries > 0.0) || !(available > 0.0)) return;
    double places = k < available ? k : available;
    Mixed mixed = {columns, size, mixed_low, mixed_inverse, n_vals};

    int n_all = n_listed[slot], kept = 0;
    for (int first = 0; first < n_all; first += 32) {
        int at = first + lane;
        bool inside = at < n_all;
        int j = inside ? index[slot * capacity + at] : 0;
        double w = inside ? counts[j] - (j == i ? 1.0 : 0.0) : 0.0;
        float d = inside ? distance[slot * capacity + at] : 0.0f;
        kept = append(own, kept, w > 0.0, j, d, w);
    }
    double quick = find_quick(own, kept, places);
    double reach = error + relative * quick;
    double limit = (quick + reach + wider[slot / n_classes] + error) / (1.0 - relative) * MARGIN;
    if (n_all < 0 || quick < 0.0 || limit > (double)cutoff[slot]) {
        if (lane == 0) n_near[slot] = -1;
        return;
    }
    int left = 0;
    double total = 0.0;
    for (int first = 0; first < kept; first += 32) {
        int at = first + lane;
        bool inside = at < kept && own->quick[at] <= limit;
        int j = inside ? own->index[at] : 0;
        float d = inside ? own->quick[at] : 0.0f;
        double w = inside ? own->weight[at] : 0.0;
        __syncwarp();
        left = append(own, left, inside, j, d, w);
        total += sum_over_warp(w);
    }
    bool all_near = n_shares == 0 && total == places;
    for (int e = 0; e < left && !all_near; e++) {
        double d = exact_distance(X + rows[i] * p, X + rows[own->index[e]] * p, p,
                                  inverse, mixed);
        if (lane == 0) own->exact[e] = d;
    }
    __syncwarp();
    double factor = is_own ? -1.0 : class_size[c] / (n - class_size[classes[i]]);
    int n_found = 0;
    for (int first = 0; first < left; first += 32) {
        int e = first + lane;
        double share = 0.0;
        if (e < left && all_near) share = own->weight[e] / places;
        if (e < left && !all_near) {
            double d = own->exact[e], tie = DISTANCE_TIE * d, below = 0.0, equal = 0.0;
            for (int f = 0; f < left; f++) {
                double other = own->exact[f];
                if (other < d - tie) below += own->weight[f];
                else if (other <= d + tie) equal += own->weight[f];
            }
            if (below < places)
                share = own->weight[e] / equal *
                        (share_up_to(below + equal, places, shares, n_shares) -
                         share_up_to(below, places, shares, n_shares));
        }
        unsigned mask = __ballot_sync(FULL, share != 0.0);
        if (share != 0.0) {
            Long at = slot * capacity + n_found + __popc(mask & ((1u << lane) - 1));
            near[at] = own->index[e];
            near_weight[at] = n_queries * factor * share;
        }
        n_found += __popc(mask);
    }
    if (lane == 0) n_near[slot] = n_found;
}

// -- sums -----------------------------------------------------------------------------

// Sum weight * |difference| over the neighbours of the asked samples, apart for every
// part of these. Neighbours of unknown number (-1) are left out.
extern "C" __global__ void sum_numeric(
    const VALUE *X, Long p, const int *rows, const int *asked, int m, int n_classes,
    int capacity, const int *near, const double *weight, const int *n_near,
    double *total)
{
    Long f = (Long)blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= p) return;
    int part = blockIdx.y, n_parts = gridDim.y;
    int begin = (Long)m * part / n_parts, end = (Long)m * (part + 1) / n_parts;
    double sum = 0.0;
    for (int i = begin; i < end; i++) {
        double own = X[rows[asked[i]] * p + f];
        for (int c = 0; c < n_classes; c++) {
            Long slot = (Long)i * n_classes + c;
            int n = n_near[slot];
            for (int t = 0; t < n; t++) {
                Long at = slot * capacity + t;
                sum += weight[at] * fabs(own - (double)X[rows[near[at]] * p + f]);
            }
        }
    }
    total[part * p + f] = sum;
}

// The same for categorical and incomplete features.
extern "C" __global__ void sum_mixed(
    const VALUE *X, Long p, const int *rows, const int *columns, int size,
    const double *low, const double *inverse, const int *n_vals, const int *asked, int m,
    int n_classes, int capacity, const int *near, const double *weight,
    const int *n_near, double *total)
{
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= size) return;
    int part = blockIdx.y, n_parts = gridDim.y, j = columns[f];
    int begin = (Long)m * part / n_parts, end = (Long)m * (part + 1) / n_parts;
    double sum = 0.0;
    for (int i = begin; i < end; i++) {
        double own = X[rows[asked[i]] * p + j];
        for (int c = 0; c < n_classes; c++) {
            Long slot = (Long)i * n_classes + c;
            int n = n_near[slot];
            for (int t = 0; t < n; t++) {
                Long at = slot * capacity + t;
                double other = X[rows[near[at]] * p + j];
                sum += weight[at] *
                       value_difference(own, other, low[f], inverse[f], n_vals[f]);
            }
        }
    }
    total[part * (Long)size + f] = sum;
}
