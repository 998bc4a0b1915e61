"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x2xi32>) -> tensor<3x2x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x2xi32>):
    %0 = "stablehlo.constant"() <{value = dense<"0x7DDBC3BF149CF4BE3A807ABFF50F4FBF87CB873F98BA4EBF7B3505BD6067623FD76615BFFEC3E4BD063BE23D05A0823DA1CE9CBF69EF9B3DEDEDAD3FD608C6BF81005C3FE26FF43D673724BFD30600407423433F4C8299BFF79B983DEEA1133F1A5041BE35D32E3F3C3A88BDBCD02A3F8221B83F34F82CBF9103503EA736EDBEA752023EFEF597BF1C4D14BF99E748BE6415663FA296923F5C69A9BFAF6D4BBF769B253F9D07FFBF9A24EDBE5E3EC7BDDEE5A03FC67C303F8488A7BEFBB5BCBE9D1980BE0303C33F1626DBBEFF7B9BBE8E86B43E7F56F7BDE0044ABEC1998EBF8AC43CBC141DE3BEAD43953FCF30273FD4C8C5BC051B2B3F6203AEBE14AC863FCCEEB0BB8C58153FFD3BA5BF0C80B13E1317D8BFD44202C065E49BBEA86166BF75FD273E18AA0F40CFEB54BFC4BA1FBF6955523E3D6CFC3ECBA334BE67DF52BE9DD4333FAB18053F7D4F84BFD129A2BDF188103D5AF986BFA109853E09A35BBF5DD9783F2F5F453E52E6B63DA24D17BFB5E9F2BD27B6FFBFF6D190BF23C6B93E713A08C056BB583F1780DFBF9DB9413F7E7258BFF66B473F1318063E02B7C4BF1BE49F3FDC89B83FB9C486BDC13E8CBE2AB423BE95A379BF7E9E8C3FF7FA0ABF0AAD51BD79154BBF544620BF7F8CA3BFA6E7A03F22C91DBEA446773F694F5A3C"> : tensor<40x3xf32>}> : () -> tensor<40x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3x2xi32>
    %3 = "stablehlo.compare"(%arg0, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %4 = "stablehlo.constant"() <{value = dense<40> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3x2xi32>
    %6 = "stablehlo.add"(%arg0, %5) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
    %7 = "stablehlo.select"(%3, %6, %arg0) : (tensor<3x2xi1>, tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %9 = "stablehlo.gather"(%0, %8) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<40x3xf32>, tensor<3x2x1xi32>) -> tensor<3x2x3xf32>
    "func.return"(%9) : (tensor<3x2x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
