// Downloads a file.

export function download(blob: Blob, name: string): void {
  // As plain bytes, so that the browser does not open it as a document of this page's origin.
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it after the click
}
