"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x4xf32>, tensor<4xi32>, tensor<2xui32>) -> (tensor<1x4x4x3xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<i32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x3xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<3x6xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf8E4M3FN>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5][0]"}, {jax.result_info = "result[5][1]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13][0]"}, {jax.result_info = "result[13][1]"}, {jax.result_info = "result[13][2]"}, {jax.result_info = "result[13][3]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}, {jax.result_info = "result[16]"}, {jax.result_info = "result[17]"}, {jax.result_info = "result[18]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg55: tensor<4x4xf32>, %arg56: tensor<4xi32>, %arg57: tensor<2xui32>):
    %175 = "stablehlo.broadcast_in_dim"(%arg55) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x4xf32>) -> tensor<1x4x4x1xf32>
    %176 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %177 = "stablehlo.broadcast_in_dim"(%176) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x1x3xf32>
    %178 = "stablehlo.convolution"(%175, %177) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[0, 1], [0, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x3xf32>) -> tensor<1x4x4x3xf32>
    %179 = "stablehlo.slice"(%arg55) <{limit_indices = array<i64: 1, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %180 = "stablehlo.reshape"(%179) : (tensor<1x4xf32>) -> tensor<4xf32>
    %181:2 = "stablehlo.sort"(%180, %arg56) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg78: tensor<f32>, %arg79: tensor<f32>, %arg80: tensor<i32>, %arg81: tensor<i32>):
      %326 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %327 = "stablehlo.compare"(%arg78, %326) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %328 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %329 = "stablehlo.select"(%327, %328, %arg78) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %330 = "stablehlo.compare"(%arg78, %arg78) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %331 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %332 = "stablehlo.select"(%330, %331, %329) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %333 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %334 = "stablehlo.compare"(%arg79, %333) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %335 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %336 = "stablehlo.select"(%334, %335, %arg79) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %337 = "stablehlo.compare"(%arg79, %arg79) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %338 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %339 = "stablehlo.select"(%337, %338, %336) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %340 = "stablehlo.compare"(%332, %339) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%340) : (tensor<i1>) -> ()
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    %182:2 = "chlo.top_k"(%arg55) <{k = 2 : i64}> : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %183 = "stablehlo.slice"(%arg55) <{limit_indices = array<i64: 1, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %184 = "stablehlo.reshape"(%183) : (tensor<1x4xf32>) -> tensor<4xf32>
    %185 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %186:3 = "stablehlo.while"(%arg55, %185, %184) ({
    ^bb0(%arg75: tensor<4x4xf32>, %arg76: tensor<i32>, %arg77: tensor<4xf32>):
      %324 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %325 = "stablehlo.compare"(%arg76, %324) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%325) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg72: tensor<4x4xf32>, %arg73: tensor<i32>, %arg74: tensor<4xf32>):
      %306 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %307 = "stablehlo.add"(%arg73, %306) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %308 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %309 = "stablehlo.compare"(%arg73, %308) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %310 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %311 = "stablehlo.add"(%arg73, %310) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %312 = "stablehlo.select"(%309, %311, %arg73) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %313 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %314 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %315 = "stablehlo.compare"(%313, %314) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %316 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %317 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %318 = "stablehlo.add"(%316, %317) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %319 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %320 = "stablehlo.select"(%315, %318, %319) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %321 = "stablehlo.dynamic_slice"(%arg72, %312, %320) <{slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %322 = "stablehlo.reshape"(%321) : (tensor<1x4xf32>) -> tensor<4xf32>
      %323 = "stablehlo.add"(%arg74, %322) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%arg72, %307, %323) : (tensor<4x4xf32>, tensor<i32>, tensor<4xf32>) -> ()
    }) : (tensor<4x4xf32>, tensor<i32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<i32>, tensor<4xf32>)
    %187 = "stablehlo.slice"(%arg56) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xi32>) -> tensor<1xi32>
    %188 = "stablehlo.reshape"(%187) : (tensor<1xi32>) -> tensor<i32>
    %189 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %190 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %191 = "stablehlo.clamp"(%189, %188, %190) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %192 = "stablehlo.case"(%191) ({
      %297 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %298 = "stablehlo.broadcast_in_dim"(%297) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
      %299 = "stablehlo.compare"(%arg56, %298) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %300 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %301 = "stablehlo.broadcast_in_dim"(%300) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
      %302 = "stablehlo.add"(%arg56, %301) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %303 = "stablehlo.select"(%299, %302, %arg56) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %304 = "stablehlo.broadcast_in_dim"(%303) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
      %305 = "stablehlo.gather"(%arg55, %304) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>
      "stablehlo.return"(%305) : (tensor<4x4xf32>) -> ()
    }, {
      %285 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %286 = "stablehlo.broadcast_in_dim"(%285) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
      %287 = "stablehlo.add"(%arg56, %286) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %288 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %289 = "stablehlo.broadcast_in_dim"(%288) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
      %290 = "stablehlo.compare"(%287, %289) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %291 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %292 = "stablehlo.broadcast_in_dim"(%291) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
      %293 = "stablehlo.add"(%287, %292) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %294 = "stablehlo.select"(%290, %293, %287) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %295 = "stablehlo.broadcast_in_dim"(%294) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
      %296 = "stablehlo.gather"(%arg55, %295) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>
      "stablehlo.return"(%296) : (tensor<4x4xf32>) -> ()
    }, {
      %282 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %283 = "stablehlo.broadcast_in_dim"(%282) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
      %284 = "stablehlo.multiply"(%arg55, %283) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      "stablehlo.return"(%284) : (tensor<4x4xf32>) -> ()
    }) : (tensor<i32>) -> tensor<4x4xf32>
    %193 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %194 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %195 = "stablehlo.compare"(%arg56, %194) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %196 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %197 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %198 = "stablehlo.add"(%arg56, %197) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %199 = "stablehlo.select"(%195, %198, %arg56) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %200 = "stablehlo.broadcast_in_dim"(%199) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
    %201 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %202 = "stablehlo.broadcast_in_dim"(%201) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %203 = "stablehlo.scatter"(%arg55, %200, %202) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg70: tensor<f32>, %arg71: tensor<f32>):
      %281 = "stablehlo.add"(%arg70, %arg71) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%281) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %204 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %205 = "stablehlo.broadcast_in_dim"(%204) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %206 = "stablehlo.compare"(%arg56, %205) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %207 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %208 = "stablehlo.broadcast_in_dim"(%207) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %209 = "stablehlo.add"(%arg56, %208) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %210 = "stablehlo.select"(%206, %209, %arg56) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %211 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %212 = "stablehlo.broadcast_in_dim"(%211) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %213 = "stablehlo.convert"(%212) : (tensor<4xi32>) -> tensor<4xi32>
    %214 = "stablehlo.broadcast_in_dim"(%210) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
    %215 = "stablehlo.broadcast_in_dim"(%213) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
    %216 = "stablehlo.concatenate"(%214, %215) <{dimension = 1 : i64}> : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %217 = "stablehlo.constant"() <{value = dense<7.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %218 = "stablehlo.broadcast_in_dim"(%217) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %219 = "stablehlo.scatter"(%203, %216, %218) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg68: tensor<f32>, %arg69: tensor<f32>):
      "stablehlo.return"(%arg69) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<4x4xf32>
    %220 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.broadcast_in_dim"(%220) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %222 = "stablehlo.reduce_window"(%arg55, %221) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg66: tensor<f32>, %arg67: tensor<f32>):
      %280 = "stablehlo.add"(%arg66, %arg67) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%280) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
    %223 = "stablehlo.slice"(%arg56) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xi32>) -> tensor<1xi32>
    %224 = "stablehlo.reshape"(%223) : (tensor<1xi32>) -> tensor<i32>
    %225 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %226 = "stablehlo.compare"(%224, %225) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %227 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %228 = "stablehlo.add"(%224, %227) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %229 = "stablehlo.select"(%226, %228, %224) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %230 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %231 = "stablehlo.dynamic_slice"(%arg55, %229, %230) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    %232 = "stablehlo.slice"(%arg56) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xi32>) -> tensor<1xi32>
    %233 = "stablehlo.reshape"(%232) : (tensor<1xi32>) -> tensor<i32>
    %234 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %235 = "stablehlo.compare"(%233, %234) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %236 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %237 = "stablehlo.add"(%233, %236) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %238 = "stablehlo.select"(%235, %237, %233) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %239 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %240 = "stablehlo.dynamic_update_slice"(%arg55, %231, %239, %238) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
    %241 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %242 = "func.call"(%arg55, %241) <{callee = @_pad}> : (tensor<4x4xf32>, tensor<i32>) -> tensor<6x6xf32>
    %243 = "stablehlo.slice"(%242) <{limit_indices = array<i64: 6, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 2, 1>}> : (tensor<6x6xf32>) -> tensor<3x6xf32>
    %244 = "stablehlo.reverse"(%243) <{dimensions = array<i64: 1>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
    %245 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %246 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %247 = "func.call"(%arg57, %245, %246) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
    %248 = "stablehlo.slice"(%arg55) <{limit_indices = array<i64: 1, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %249 = "stablehlo.reshape"(%248) : (tensor<1x4xf32>) -> tensor<4xf32>
    %250 = "func.call"(%249) <{callee = @fft}> : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %251 = "stablehlo.real"(%250) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %252 = "func.call"(%arg55) <{callee = @argmax}> : (tensor<4x4xf32>) -> tensor<4xi32>
    %253 = "func.call"(%arg55) <{callee = @cumsum}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %254 = "stablehlo.transpose"(%arg55) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %255 = "stablehlo.dot_general"(%arg55, %254) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %256 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x4xi32>
    %257 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xi32>
    %258 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %259 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4x4xi32>
    %260 = "stablehlo.add"(%256, %259) : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    %261 = "stablehlo.compare"(%260, %257) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %262 = "stablehlo.convert"(%261) : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %263 = "stablehlo.add"(%255, %262) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %264 = "func.call"(%263) <{callee = @cholesky}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %265 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %266 = "stablehlo.broadcast_in_dim"(%265) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %267 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %268:4 = "stablehlo.while"(%arg56, %arg55, %267, %266) ({
    ^bb0(%arg62: tensor<4xi32>, %arg63: tensor<4x4xf32>, %arg64: tensor<i32>, %arg65: tensor<4xf32>):
      %278 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %279 = "stablehlo.compare"(%arg64, %278) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%279) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg58: tensor<4xi32>, %arg59: tensor<4x4xf32>, %arg60: tensor<i32>, %arg61: tensor<4xf32>):
      %273 = "func.call"(%arg58, %arg60) <{callee = @dynamic_index_in_dim}> : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
      %274 = "func.call"(%arg59, %273) <{callee = @closed_call_1}> : (tensor<4x4xf32>, tensor<i32>) -> tensor<f32>
      %275 = "func.call"(%arg61, %274, %arg60) <{callee = @dynamic_update_index_in_dim}> : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
      %276 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %277 = "stablehlo.add"(%arg60, %276) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg58, %arg59, %277, %275) : (tensor<4xi32>, tensor<4x4xf32>, tensor<i32>, tensor<4xf32>) -> ()
    }) : (tensor<4xi32>, tensor<4x4xf32>, tensor<i32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4x4xf32>, tensor<i32>, tensor<4xf32>)
    %269 = "stablehlo.convert"(%arg55) : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
    %270 = "stablehlo.tanh"(%arg55) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %271 = "chlo.erf"(%arg55) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %272 = "stablehlo.bitcast_convert"(%arg55) : (tensor<4x4xf32>) -> tensor<4x4xi32>
    "func.return"(%178, %181#0, %181#1, %182#0, %182#1, %186#1, %186#2, %192, %219, %222, %231, %240, %244, %247, %251, %252, %253, %264, %268#3, %269, %270, %271, %272) : (tensor<1x4x4x3xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<i32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x3xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<3x6xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf8E4M3FN>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x4xf32>, tensor<i32>) -> tensor<6x6xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg53: tensor<4x4xf32>, %arg54: tensor<i32>):
    %173 = "stablehlo.convert"(%arg54) : (tensor<i32>) -> tensor<f32>
    %174 = "stablehlo.pad"(%arg53, %173) <{edge_padding_high = array<i64: 1, 1>, edge_padding_low = array<i64: 1, 1>, interior_padding = array<i64: 0, 0>}> : (tensor<4x4xf32>, tensor<f32>) -> tensor<6x6xf32>
    "func.return"(%174) : (tensor<6x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg50: tensor<2xui32>, %arg51: tensor<f32>, %arg52: tensor<f32>):
    %137 = "stablehlo.convert"(%arg51) : (tensor<f32>) -> tensor<f32>
    %138 = "stablehlo.convert"(%arg52) : (tensor<f32>) -> tensor<f32>
    %139 = "stablehlo.broadcast_in_dim"(%137) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %140 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %141 = "stablehlo.slice"(%arg50) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %142 = "stablehlo.reshape"(%141) : (tensor<1xui32>) -> tensor<ui32>
    %143 = "stablehlo.slice"(%arg50) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %144 = "stablehlo.reshape"(%143) : (tensor<1xui32>) -> tensor<ui32>
    %145 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xui64>
    %146 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %147 = "stablehlo.broadcast_in_dim"(%146) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<3xui64>
    %148 = "stablehlo.multiply"(%147, %145) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %149 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<3xui64>
    %151 = "stablehlo.shift_right_logical"(%148, %150) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %152 = "stablehlo.convert"(%148) : (tensor<3xui64>) -> tensor<3xui32>
    %153 = "stablehlo.convert"(%151) : (tensor<3xui64>) -> tensor<3xui32>
    %154:2 = "func.call"(%142, %144, %153, %152) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
    %155 = "stablehlo.xor"(%154#0, %154#1) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %156 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %157 = "stablehlo.broadcast_in_dim"(%156) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %158 = "stablehlo.shift_right_logical"(%155, %157) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %159 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %160 = "stablehlo.broadcast_in_dim"(%159) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %161 = "stablehlo.or"(%158, %160) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %162 = "stablehlo.bitcast_convert"(%161) : (tensor<3xui32>) -> tensor<3xf32>
    %163 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %165 = "stablehlo.subtract"(%162, %164) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %166 = "stablehlo.subtract"(%140, %139) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %167 = "stablehlo.broadcast_in_dim"(%166) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<3xf32>
    %168 = "stablehlo.multiply"(%165, %167) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %169 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<3xf32>
    %170 = "stablehlo.add"(%168, %169) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %171 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<3xf32>
    %172 = "stablehlo.maximum"(%171, %170) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%172) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg28: tensor<ui32>, %arg29: tensor<ui32>, %arg30: tensor<3xui32>, %arg31: tensor<3xui32>):
    %120 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %121 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %122 = "stablehlo.xor"(%arg28, %arg29) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %123 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %124 = "stablehlo.xor"(%122, %123) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %125 = "stablehlo.broadcast_in_dim"(%arg28) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %126 = "stablehlo.add"(%arg30, %125) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %127 = "stablehlo.broadcast_in_dim"(%arg29) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %128 = "stablehlo.add"(%arg31, %127) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %129 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %130 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %131:9 = "stablehlo.while"(%130, %129, %126, %128, %arg29, %124, %arg28, %120, %121) ({
    ^bb0(%arg41: tensor<i32>, %arg42: tensor<i32>, %arg43: tensor<3xui32>, %arg44: tensor<3xui32>, %arg45: tensor<ui32>, %arg46: tensor<ui32>, %arg47: tensor<ui32>, %arg48: tensor<4xui32>, %arg49: tensor<4xui32>):
      %135 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %136 = "stablehlo.compare"(%arg41, %135) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%136) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg32: tensor<i32>, %arg33: tensor<i32>, %arg34: tensor<3xui32>, %arg35: tensor<3xui32>, %arg36: tensor<ui32>, %arg37: tensor<ui32>, %arg38: tensor<ui32>, %arg39: tensor<4xui32>, %arg40: tensor<4xui32>):
      %132:8 = "func.call"(%arg33, %arg34, %arg35, %arg36, %arg37, %arg38, %arg39, %arg40) <{callee = @closed_call}> : (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %133 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %134 = "stablehlo.add"(%arg32, %133) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%134, %132#0, %132#1, %132#2, %132#3, %132#4, %132#5, %132#6, %132#7) : (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%131#2, %131#3) : (tensor<3xui32>, tensor<3xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<i32>, %arg21: tensor<3xui32>, %arg22: tensor<3xui32>, %arg23: tensor<ui32>, %arg24: tensor<ui32>, %arg25: tensor<ui32>, %arg26: tensor<4xui32>, %arg27: tensor<4xui32>):
    %65 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %66 = "stablehlo.add"(%arg20, %65) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %67 = "stablehlo.slice"(%arg26) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %68 = "stablehlo.reshape"(%67) : (tensor<1xui32>) -> tensor<ui32>
    %69 = "stablehlo.add"(%arg21, %arg22) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %70 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %71 = "stablehlo.shift_left"(%arg22, %70) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %72 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %73 = "stablehlo.subtract"(%72, %68) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %75 = "stablehlo.shift_right_logical"(%arg22, %74) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %76 = "stablehlo.or"(%71, %75) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %77 = "stablehlo.xor"(%69, %76) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %78 = "stablehlo.slice"(%arg26) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %79 = "stablehlo.reshape"(%78) : (tensor<1xui32>) -> tensor<ui32>
    %80 = "stablehlo.add"(%69, %77) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %81 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %82 = "stablehlo.shift_left"(%77, %81) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %83 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %84 = "stablehlo.subtract"(%83, %79) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %86 = "stablehlo.shift_right_logical"(%77, %85) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %87 = "stablehlo.or"(%82, %86) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %88 = "stablehlo.xor"(%80, %87) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %89 = "stablehlo.slice"(%arg26) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %90 = "stablehlo.reshape"(%89) : (tensor<1xui32>) -> tensor<ui32>
    %91 = "stablehlo.add"(%80, %88) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %92 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %93 = "stablehlo.shift_left"(%88, %92) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %94 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %95 = "stablehlo.subtract"(%94, %90) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %97 = "stablehlo.shift_right_logical"(%88, %96) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %98 = "stablehlo.or"(%93, %97) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %99 = "stablehlo.xor"(%91, %98) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %100 = "stablehlo.slice"(%arg26) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %101 = "stablehlo.reshape"(%100) : (tensor<1xui32>) -> tensor<ui32>
    %102 = "stablehlo.add"(%91, %99) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %103 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %104 = "stablehlo.shift_left"(%99, %103) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %105 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %106 = "stablehlo.subtract"(%105, %101) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %108 = "stablehlo.shift_right_logical"(%99, %107) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %109 = "stablehlo.or"(%104, %108) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %110 = "stablehlo.xor"(%102, %109) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %111 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %112 = "stablehlo.add"(%102, %111) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %113 = "stablehlo.broadcast_in_dim"(%arg24) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %114 = "stablehlo.add"(%110, %113) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %115 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %116 = "stablehlo.add"(%arg20, %115) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %117 = "stablehlo.convert"(%116) : (tensor<i32>) -> tensor<ui32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %119 = "stablehlo.add"(%114, %118) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    "func.return"(%66, %112, %119, %arg24, %arg25, %arg23, %arg27, %arg26) : (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xf32>) -> tensor<4xcomplex<f32>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<4xf32>):
    %63 = "stablehlo.convert"(%arg19) : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %64 = "stablehlo.fft"(%63) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    "func.return"(%64) : (tensor<4xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> tensor<4xi32>, sym_name = "argmax", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<4x4xf32>):
    %50 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xi32>
    %51 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %53:2 = "stablehlo.reduce"(%arg14, %50, %51, %52) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<i32>, %arg17: tensor<f32>, %arg18: tensor<i32>):
      %54 = "stablehlo.compare"(%arg15, %arg17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %55 = "stablehlo.compare"(%arg15, %arg15) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %56 = "stablehlo.or"(%54, %55) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %57 = "stablehlo.compare"(%arg15, %arg17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %58 = "stablehlo.compare"(%arg16, %arg18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %59 = "stablehlo.and"(%57, %58) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %60 = "stablehlo.or"(%56, %59) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %61 = "stablehlo.select"(%56, %arg15, %arg17) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %62 = "stablehlo.select"(%60, %arg16, %arg18) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%61, %62) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    "func.return"(%53#1) : (tensor<4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf32>) -> tensor<4x4xf32>, res_attrs = [{}], sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<4x4xf32>):
    %49 = "func.call"(%arg13) <{callee = @cumsum_0}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%49) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> tensor<4x4xf32>, sym_name = "cumsum_0", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<4x4xf32>):
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %47 = "stablehlo.reduce_window"(%arg10, %46) <{base_dilations = array<i64: 1, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %48 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%48) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    "func.return"(%47) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf32>) -> tensor<4x4xf32>, res_attrs = [{}], sym_name = "cholesky", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<4x4xf32>):
    %22 = "stablehlo.transpose"(%arg9) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %23 = "stablehlo.add"(%arg9, %22) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %24 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %26 = "stablehlo.divide"(%23, %25) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %27:2 = "stablehlo.custom_call"(%26) <{api_version = 1 : i32, backend_config = "", call_target_name = "lapack_spotrf_ffi", called_computations = [], has_side_effect = false, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}> {mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=4, j=4, k=4, l=4}, custom>} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %30 = "stablehlo.compare"(%27#1, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1x1xi1>
    %32 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %34 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %35 = "stablehlo.select"(%34, %27#0, %33) : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %36 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x4xi32>
    %37 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4x4xi32>
    %39 = "stablehlo.add"(%36, %38) : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    %40 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xi32>
    %41 = "stablehlo.compare"(%39, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %42 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %44 = "stablehlo.select"(%41, %35, %43) : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%44) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<4xi32>, %arg8: tensor<i32>):
    %20 = "stablehlo.dynamic_slice"(%arg7, %arg8) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.reshape"(%20) : (tensor<1xi32>) -> tensor<i32>
    "func.return"(%21) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>, tensor<i32>) -> tensor<f32>, res_attrs = [{}], sym_name = "closed_call_1", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<4x4xf32>, %arg4: tensor<i32>):
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.compare"(%arg4, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.add"(%arg4, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.select"(%3, %5, %arg4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.compare"(%7, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.add"(%10, %11) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.select"(%9, %12, %13) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %15 = "stablehlo.dynamic_slice"(%arg3, %6, %14) <{slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %16 = "stablehlo.reshape"(%15) : (tensor<1x4xf32>) -> tensor<4xf32>
    %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %19 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%19) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%18) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %1 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2) : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    "func.return"(%1) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
