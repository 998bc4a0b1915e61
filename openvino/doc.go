// Package openvino implements the gathers of OpenVINO's operation sets: Gather-1,
// Gather-7, Gather-8, GatherND-5, GatherND-8 and GatherElements-6. Where
// OpenVINO's plugins depart from the specification, the package follows the
// specification.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package openvino
