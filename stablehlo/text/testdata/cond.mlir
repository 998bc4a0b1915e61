module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x4xf32>, %arg1: tensor<5xi32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:1] : (tensor<5xi32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare GT, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %c_0 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %6 = stablehlo.add %arg1, %5 : tensor<5xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %8 = stablehlo.compare LT, %6, %7, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
      %c_2 = stablehlo.constant dense<5> : tensor<i32>
      %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %10 = stablehlo.add %6, %9 : tensor<5xi32>
      %11 = stablehlo.select %8, %10, %6 : tensor<5xi1>, tensor<5xi32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
      %13 = "stablehlo.gather"(%arg0, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
      stablehlo.return %13 : tensor<5x4xf32>
    }, {
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %6 = stablehlo.compare LT, %arg1, %5, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
      %c_1 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %8 = stablehlo.add %arg1, %7 : tensor<5xi32>
      %9 = stablehlo.select %6, %8, %arg1 : tensor<5xi1>, tensor<5xi32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
      %11 = "stablehlo.gather"(%arg0, %10) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
      stablehlo.return %11 : tensor<5x4xf32>
    }) : (tensor<i32>) -> tensor<5x4xf32>
    return %4 : tensor<5x4xf32>
  }
}
