// Package reload turns triggers into passes: a signal, a request or a changed
// file asks for one, and triggers within half a second share it.
//
// A trigger during a pass schedules exactly one further pass. A pass renews a list
// of components. Each component is built completely before it is published, a
// component with unchanged inputs is not built, and a component that fails keeps its
// previous version and does not concern the others. A drain abandons what is not
// published.
//
// Values of sources that change are another matter: they ask for a rebuild of the rules,
// which is no pass, and none runs meanwhile.
package reload
