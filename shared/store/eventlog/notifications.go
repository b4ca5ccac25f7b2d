package eventlog

const AttrStatus = "st" // of runMarks.Status
