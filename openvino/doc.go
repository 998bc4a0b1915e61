// Package openvino has the gathers of OpenVINO's operation sets, each as its
// page of the specification says: Gather-1, Gather-7, Gather-8, GatherND-5,
// GatherND-8 and GatherElements-6.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
// Where OpenVINO's own plugins depart from the page, the page is followed.
package openvino
