module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x4xf32>, %arg1: tensor<5xi32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %1 = stablehlo.multiply %arg1, %0 : tensor<5xi32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %3 = stablehlo.subtract %1, %2 : tensor<5xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %4 = call @floor_divide(%3, %c_1) : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
    %c_2 = stablehlo.constant dense<4> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %6 = stablehlo.maximum %arg1, %5 : tensor<5xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @clip(%4, %c_3, %6) : (tensor<5xi32>, tensor<i32>, tensor<5xi32>) -> tensor<5xi32>
    %8 = stablehlo.convert %7 : (tensor<5xi32>) -> tensor<5xi16>
    %c_4 = stablehlo.constant dense<0> : tensor<i16>
    %9 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i16>) -> tensor<5xi16>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<5xi16>, tensor<5xi16>) -> tensor<5xi1>
    %c_5 = stablehlo.constant dense<5> : tensor<i16>
    %11 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i16>) -> tensor<5xi16>
    %12 = stablehlo.add %8, %11 : tensor<5xi16>
    %13 = stablehlo.select %10, %12, %8 : tensor<5xi1>, tensor<5xi16>
    %14 = stablehlo.convert %13 : (tensor<5xi16>) -> tensor<5xi32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %16 = "stablehlo.gather"(%arg0, %15) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
    return %16 : tensor<5x4xf32>
  }
  func.func private @floor_divide(%arg0: tensor<5xi32>, %arg1: tensor<i32>) -> tensor<5xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<5xi32>
    %3 = stablehlo.sign %arg0 : tensor<5xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %11 = stablehlo.and %6, %10 : tensor<5xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<5xi32>
    %14 = call @_where(%11, %13, %2) : (tensor<5xi1>, tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
    return %14 : tensor<5xi32>
  }
  func.func private @_where(%arg0: tensor<5xi1>, %arg1: tensor<5xi32>, %arg2: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<5xi1>, tensor<5xi32>
    return %0 : tensor<5xi32>
  }
  func.func private @clip(%arg0: tensor<5xi32>, %arg1: tensor<i32>, %arg2: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<5xi32>
    %3 = stablehlo.minimum %arg2, %2 : tensor<5xi32>
    return %3 : tensor<5xi32>
  }
}
