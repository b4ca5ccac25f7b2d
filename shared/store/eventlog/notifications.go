package eventlog

// AttrStatus is the attribute of RunMarks.Status.
const AttrStatus = "st" // of runMarks.Status
