module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5x4xi32>, %arg1: tensor<3x2xi32>) -> (tensor<3x2xi32> {jax.result_info = "result"}) {
    %0 = call @_take(%arg0, %arg1) : (tensor<3x5x4xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
    return %0 : tensor<3x2xi32>
  }
  func.func private @_take(%arg0: tensor<3x5x4xi32>, %arg1: tensor<3x2xi32>) -> tensor<3x2xi32> {
    %0 = stablehlo.reshape %arg0 : (tensor<3x5x4xi32>) -> tensor<60xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_0 = stablehlo.constant dense<60> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<3x2xi32>
    %5 = call @_where(%2, %4, %arg1) : (tensor<3x2xi1>, tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %c_1 = stablehlo.constant dense<59> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x2x1xi32>
    %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<3x2x1xi32>, tensor<3x2x1xi32>) -> tensor<3x2x1xi1>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<3x2x1xi32>
    %11 = stablehlo.compare LE, %6, %10, SIGNED : (tensor<3x2x1xi32>, tensor<3x2x1xi32>) -> tensor<3x2x1xi1>
    %12 = stablehlo.and %8, %11 : tensor<3x2x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %13 = stablehlo.reduce(%12 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<3x2x1xi1>, tensor<i1>) -> tensor<3x2xi1>
    %14 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<60xi32>, tensor<3x2x1xi32>) -> tensor<3x2xi32>
    %c_4 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %16 = stablehlo.select %13, %14, %15 : tensor<3x2xi1>, tensor<3x2xi32>
    return %16 : tensor<3x2xi32>
  }
  func.func private @_where(%arg0: tensor<3x2xi1>, %arg1: tensor<3x2xi32>, %arg2: tensor<3x2xi32>) -> tensor<3x2xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x2xi1>, tensor<3x2xi32>
    return %0 : tensor<3x2xi32>
  }
}
