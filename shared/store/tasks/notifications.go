package tasks

const AttrCancelled = "xt" // of linkItem.Cancelled
