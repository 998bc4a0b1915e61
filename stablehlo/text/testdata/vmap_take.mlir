module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<3x2xi32>) -> (tensor<3x5x2xi32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[[[88, 25, 36, 79], [15, 55, 66, -55], [-89, -40, -43, 74], [82, -99, -1, 64], [-74, 59, -77, -7]], [[63, -40, -32, -45], [43, -50, 98, -11], [-5, 0, 16, 10], [1, 99, 61, 58], [40, 24, -32, 97]], [[-7, -57, 69, -68], [71, 22, -78, -92], [-12, -93, -72, 2], [94, -7, 61, 83], [64, 25, -12, 2]]]> : tensor<3x5x4xi32>
    %0 = call @_take(%c, %arg1) : (tensor<3x5x4xi32>, tensor<3x2xi32>) -> tensor<3x5x2xi32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<i32>) -> tensor<3x5x2xi32>
    %2 = stablehlo.add %0, %1 : tensor<3x5x2xi32>
    return %2 : tensor<3x5x2xi32>
  }
  func.func private @_take(%arg0: tensor<3x5x4xi32>, %arg1: tensor<3x2xi32>) -> tensor<3x5x2xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5, 1>}> : (tensor<3x5x4xi32>, tensor<3x2x1xi32>) -> tensor<3x5x2xi32>
    return %1 : tensor<3x5x2xi32>
  }
}
