// The kernels of a level on a GPU; numpy_kernels.py has the same ones in NumPy, to be read first.
//
// Rows lie in the order of their nodes, and are cut into chunks, none of which has rows of two
// nodes. What is added up is added up in a fixed order, so that a tree has the same bits whenever it
// is grown on such a GPU. Rows of matrices are multiples of four floats wide.

#define WARP 32
#define ALL 0xffffffffu
#ifndef DYNAMIC_SHARED  // of so many bytes as the launch says
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

__device__ float warp_sum(float value) {
    for (int lanes = WARP / 2; lanes; lanes /= 2) value += __shfl_xor_sync(ALL, value, lanes);
    return value;
}
__device__ double warp_sum(double value) {
    for (int lanes = WARP / 2; lanes; lanes /= 2) value += __shfl_xor_sync(ALL, value, lanes);
    return value;
}
__device__ void add_times(float4& sum, float factor, float4 x) {
    sum.x += factor * x.x;
    sum.y += factor * x.y;
    sum.z += factor * x.z;
    sum.w += factor * x.w;
}

// out[i] = rows of m less the mean of their node, a thread for each four numbers.
extern "C" __global__ void centre(const float4* m, int width, const int* rows, const int* node,
                                  const float4* mean, float4* out, long long n) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    const long long i = at / width;
    const int j = (int)(at % width);
    const float4 x = m[(long long)rows[i] * width + j], c = mean[(long long)node[i] * width + j];
    out[at] = make_float4(x.x - c.x, x.y - c.y, x.z - c.z, x.w - c.w);
}

// out[i] = m[rows[i]] . w[node[i]], a warp for each row.
extern "C" __global__ void dot(const float4* m, int width, const int* rows, const int* node,
                               const float4* w, float* out, int n) {
    const int i = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (i >= n) return;
    const float4* a = m + (long long)rows[i] * width;
    const float4* b = w + (long long)node[i] * width;
    float sum = 0;
    for (int j = lane; j < width; j += WARP)
        sum += a[j].x * b[j].x + a[j].y * b[j].y + a[j].z * b[j].z + a[j].w * b[j].w;
    sum = warp_sum(sum);
    if (lane == 0) out[i] = sum;
}

// The same, as a prediction adds it up: one product after the other, by a thread for each row.
extern "C" __global__ void dot_in_order(const float4* m, int width, const int* rows,
                                        const int* node, const float4* w, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4* a = m + (long long)rows[i] * width;
    const float4* b = w + (long long)node[i] * width;
    float sum = 0;
    for (int j = 0; j < width; ++j) {
        const float4 x = a[j], v = b[j];
        sum = __fadd_rn(sum, __fmul_rn(x.x, v.x));
        sum = __fadd_rn(sum, __fmul_rn(x.y, v.y));
        sum = __fadd_rn(sum, __fmul_rn(x.z, v.z));
        sum = __fadd_rn(sum, __fmul_rn(x.w, v.w));
    }
    out[i] = sum;
}

// out[i] = a[i] . b[i] of rows of doubles' precision, a warp for each row.
extern "C" __global__ void row_dots(const float* a, const float* b, int width, double* out, int n) {
    const int i = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (i >= n) return;
    double sum = 0;
    for (int j = lane; j < width; j += WARP)
        sum += (double)a[(long long)i * width + j] * b[(long long)i * width + j];
    sum = warp_sum(sum);
    if (lane == 0) out[i] = sum;
}

// Of each chunk, the sum of v[i] m[rows[i]]: a block for each chunk.
extern "C" __global__ void add_up(const float4* m, int width, const int* rows, const float* v,
                                  const int* begin, const int* end, float4* out) {
    const int chunk = blockIdx.x;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
        for (int i = begin[chunk]; i < end[chunk]; ++i)
            add_times(sum, v[i], m[(long long)rows[i] * width + j]);
        out[(long long)chunk * width + j] = sum;
    }
}

// Of each chunk, weighted sums of rows and of their squares, and what add_up gives of v.
extern "C" __global__ void moments(const float4* m, int width, const int* rows,
                                   const float* weights, const float* v, const int* begin,
                                   const int* end, float4* sums, float4* squares,
                                   float4* products) {
    const int chunk = blockIdx.x;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        float4 sum = make_float4(0, 0, 0, 0), square = sum, product = sum;
#pragma unroll 4
        for (int i = begin[chunk]; i < end[chunk]; ++i) {
            const float4 x = m[(long long)rows[i] * width + j];
            add_times(sum, weights[i], x);
            add_times(square, weights[i], make_float4(x.x * x.x, x.y * x.y, x.z * x.z, x.w * x.w));
            add_times(product, v[i], x);
        }
        const long long at = (long long)chunk * width + j;
        sums[at] = sum;
        squares[at] = square;
        products[at] = product;
    }
}

// Of each chunk, the sum of a[i] b[i]: a warp for each chunk.
extern "C" __global__ void sum_products(const float* a, const float* b, const int* begin,
                                        const int* end, double* out, int n) {
    const int chunk = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (chunk >= n) return;
    double sum = 0;
    for (int i = begin[chunk] + lane; i < end[chunk]; i += WARP) sum += (double)a[i] * b[i];
    sum = warp_sum(sum);
    if (lane == 0) out[chunk] = sum;
}

// Sums of nodes from those of their chunks, a thread for each number.
template <class T>
__device__ void join(const T* parts, const int* first_chunk, int width, T* out, long long n) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    const int node = (int)(at / width), j = (int)(at % width);
    double sum = 0;
#pragma unroll 8
    for (int chunk = first_chunk[node]; chunk < first_chunk[node + 1]; ++chunk)
        sum += parts[(long long)chunk * width + j];
    out[at] = (T)sum;
}
extern "C" __global__ void join_floats(const float* parts, const int* first_chunk, int width,
                                       float* out, long long n) {
    join(parts, first_chunk, width, out, n);
}
extern "C" __global__ void join_doubles(const double* parts, const int* first_chunk, int width,
                                        double* out, long long n) {
    join(parts, first_chunk, width, out, n);
}

// ---- The best cut of each node, along which its rows are sorted: `order` has their places.

// Of each chunk, the weighted sum of outputs, and the weight beside it: a block for each chunk.
extern "C" __global__ void chunk_totals(const float* z, int width, const float* weights,
                                        const int* order, const int* begin, const int* end,
                                        double* out) {
    const int chunk = blockIdx.x;
    for (int j = threadIdx.x; j <= width; j += blockDim.x) {
        double sum = 0;
        for (int i = begin[chunk]; i < end[chunk]; ++i) {
            const int row = order[i];
            sum += (double)weights[row] * (j < width ? z[(long long)row * width + j] : 1.0f);
        }
        out[(long long)chunk * (width + 1) + j] = sum;
    }
}

// Replaces what chunks add up to by what those before them in their node do.
extern "C" __global__ void totals_before(double* sums, const int* first_chunk, int width,
                                         double* total, long long n) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    const int node = (int)(at / width), j = (int)(at % width);
    double sum = 0;
    for (int chunk = first_chunk[node]; chunk < first_chunk[node + 1]; ++chunk) {
        const double of_chunk = sums[(long long)chunk * width + j];
        sums[(long long)chunk * width + j] = sum;
        sum += of_chunk;
    }
    total[at] = sum;
}

// Of each chunk, the best cut with so many rows on each side, and the best of all: a warp for each
// chunk. A cut is after a row that has another code than the next one.
extern "C" __global__ void best_in_chunk(const float* z, int width, const float* weights,
                                         const int* order, const unsigned* codes,
                                         const int* chunk_node, const int* begin, const int* end,
                                         const int* start, const double* before,
                                         const double* total, const int* wanted, int least,
                                         const double* min_weight, double* score, int* taken) {
    DYNAMIC_SHARED(double, side);
    const int chunk = blockIdx.x, lane = threadIdx.x, node = chunk_node[chunk];
    const int first = start[node], n = start[node + 1] - first;
    const double* all = total + (long long)node * (width + 1);
    const double* so_far = before + (long long)chunk * (width + 1);
    for (int j = lane; j < width; j += WARP) side[j] = so_far[j];
    double weight = so_far[width];
    double best[2] = {-1, -1};
    int best_taken[2] = {0, 0};
    for (int i = begin[chunk]; i < end[chunk]; ++i) {
        const int row = order[i], n_left = i + 1 - first, n_right = n - n_left;
        const double w = weights[row];
        weight += w;
        const bool is_cut = n_left >= least && n_right >= least && codes[i] != codes[i + 1] &&
                            weight >= min_weight[node] && all[width] - weight >= min_weight[node];
        double left = 0, right = 0;
        for (int j = lane; j < width; j += WARP) {
            const double sum = side[j] + w * z[(long long)row * width + j];
            const double rest = all[j] - sum;
            side[j] = sum;
            left += sum * sum;
            right += rest * rest;
        }
        if (!is_cut) continue;
        const double found =
            warp_sum(left) / weight + warp_sum(right) / (all[width] - weight);
        for (int kind = 0; kind < 2; ++kind) {
            if (kind == 0 && (n_left < wanted[node] || n_right < wanted[node])) continue;
            if (!(found > best[kind])) continue;
            best[kind] = found;
            best_taken[kind] = n_left;
        }
    }
    if (lane < 2) {
        score[2 * chunk + lane] = best[lane];
        taken[2 * chunk + lane] = best_taken[lane];
    }
}

// The best cut of each node: with the wanted rows on each side, where there is one.
extern "C" __global__ void best_of_chunks(const double* score, const int* taken,
                                          const int* first_chunk, double* best, int* best_taken,
                                          int n) {
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n) return;
    best[node] = -1;
    best_taken[node] = 0;
    for (int kind = 0; kind < 2 && best_taken[node] == 0; ++kind)
        for (int chunk = first_chunk[node]; chunk < first_chunk[node + 1]; ++chunk) {
            if (!(taken[2 * chunk + kind] && score[2 * chunk + kind] > best[node])) continue;
            best[node] = score[2 * chunk + kind];
            best_taken[node] = taken[2 * chunk + kind];
        }
}

// Marks the `most` largest numbers of each row, and the first of equal ones, but no zero. `bits` are
// of floats that are not negative, and ordered as they are. A block for each row.
extern "C" __global__ void mark_largest(const unsigned* bits, int width, const int* most,
                                        unsigned char* marks) {
    __shared__ int count;
    const unsigned* row = bits + (long long)blockIdx.x * width;
    unsigned char* mark = marks + (long long)blockIdx.x * width;
    unsigned threshold = 0;  // the largest that so many numbers reach, bit by bit
    int n_above = 0;         // numbers that are larger
    for (int bit = 31; bit >= 0; --bit) {
        const unsigned higher = threshold | 1u << bit;
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        int own = 0;
        for (int j = threadIdx.x; j < width; j += blockDim.x) own += row[j] >= higher;
        if (own) atomicAdd(&count, own);
        __syncthreads();
        if (count >= most[blockIdx.x])
            threshold = higher;
        else
            n_above = count;
        __syncthreads();
    }
    for (int j = threadIdx.x; j < width; j += blockDim.x) mark[j] = row[j] > threshold;
    __syncthreads();
    if (threadIdx.x != 0 || threshold == 0) return;
    int n_equal = most[blockIdx.x] - n_above;
    for (int j = 0; j < width && n_equal > 0; ++j)
        if (row[j] == threshold) {
            mark[j] = 1;
            --n_equal;
        }
}
