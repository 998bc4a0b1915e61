"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<5x4xf32>, tensor<5xi32>) -> (tensor<4xf32>, tensor<5xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<5x4xf32>, %arg9: tensor<5xi32>):
    %22 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 1, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<5x4xf32>) -> tensor<1x4xf32>
    %23 = "stablehlo.reshape"(%22) : (tensor<1x4xf32>) -> tensor<4xf32>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
    %26 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %27:5 = "stablehlo.while"(%arg9, %arg8, %26, %23, %25) ({
    ^bb0(%arg15: tensor<5xi32>, %arg16: tensor<5x4xf32>, %arg17: tensor<i32>, %arg18: tensor<4xf32>, %arg19: tensor<5xf32>):
      %33 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %34 = "stablehlo.compare"(%arg17, %33) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%34) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg10: tensor<5xi32>, %arg11: tensor<5x4xf32>, %arg12: tensor<i32>, %arg13: tensor<4xf32>, %arg14: tensor<5xf32>):
      %28 = "func.call"(%arg10, %arg12) <{callee = @dynamic_index_in_dim}> : (tensor<5xi32>, tensor<i32>) -> tensor<i32>
      %29:2 = "func.call"(%arg11, %arg13, %28) <{callee = @closed_call}> : (tensor<5x4xf32>, tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<f32>)
      %30 = "func.call"(%arg14, %29#1, %arg12) <{callee = @dynamic_update_index_in_dim}> : (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xf32>
      %31 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %32 = "stablehlo.add"(%arg12, %31) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg10, %arg11, %32, %29#0, %30) : (tensor<5xi32>, tensor<5x4xf32>, tensor<i32>, tensor<4xf32>, tensor<5xf32>) -> ()
    }) : (tensor<5xi32>, tensor<5x4xf32>, tensor<i32>, tensor<4xf32>, tensor<5xf32>) -> (tensor<5xi32>, tensor<5x4xf32>, tensor<i32>, tensor<4xf32>, tensor<5xf32>)
    "func.return"(%27#3, %27#4) : (tensor<4xf32>, tensor<5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<5xi32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<5xi32>, %arg7: tensor<i32>):
    %20 = "stablehlo.dynamic_slice"(%arg6, %arg7) <{slice_sizes = array<i64: 1>}> : (tensor<5xi32>, tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.reshape"(%20) : (tensor<1xi32>) -> tensor<i32>
    "func.return"(%21) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5x4xf32>, tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<f32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<5x4xf32>, %arg4: tensor<4xf32>, %arg5: tensor<i32>):
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.compare"(%arg5, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.add"(%arg5, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.select"(%3, %5, %arg5) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.compare"(%7, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.add"(%10, %11) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.select"(%9, %12, %13) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %15 = "stablehlo.dynamic_slice"(%arg3, %6, %14) <{slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %16 = "stablehlo.reshape"(%15) : (tensor<1x4xf32>) -> tensor<4xf32>
    %17 = "stablehlo.add"(%arg4, %16) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %18 = "stablehlo.slice"(%arg4) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1xf32>
    %19 = "stablehlo.reshape"(%18) : (tensor<1xf32>) -> tensor<f32>
    "func.return"(%17, %19) : (tensor<4xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %1 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2) : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    "func.return"(%1) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
