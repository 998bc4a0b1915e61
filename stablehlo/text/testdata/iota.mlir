module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x4xf32>) -> (tensor<4x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<3xi32>
    %1 = stablehlo.reverse %0, dims = [0] : tensor<3xi32>
    %2 = stablehlo.iota dim = 0 : tensor<2xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<3xi32>, tensor<2xi32>) -> tensor<5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %5 = stablehlo.compare LT, %3, %4, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %7 = stablehlo.add %3, %6 : tensor<5xi32>
    %8 = stablehlo.select %5, %7, %3 : tensor<5xi1>, tensor<5xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %10 = "stablehlo.gather"(%arg0, %9) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
    %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
    return %11 : tensor<4x5xf32>
  }
}
