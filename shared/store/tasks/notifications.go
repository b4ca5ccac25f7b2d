package tasks

// AttrCancelled is the attribute of a link that was cancelled.
const AttrCancelled = "xt" // of linkItem.Cancelled
