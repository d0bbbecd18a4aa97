/** Yields the tested divisions of bytes into packets: one packet, one per byte, and two packets cut at each offset. */
export function* splits(bytes: string): Generator<readonly string[]> {
  yield [bytes];
  // A very long request is cut only around its line ends and at some offsets in between.
  const isShort = bytes.length <= 700;
  if (isShort) {
    yield bytes.split('');
    // uWebSockets.js 20 rejects a request line in pieces, so the line is also sent whole and the rest byte by byte.
    const lineLength = bytes.indexOf('\n') + 1;
    yield [bytes.slice(0, lineLength), ...bytes.slice(lineLength).split('')];
  }
  for (let at = 1; at < bytes.length; at += 1) {
    const isNearEnd = /[\r\n:]/.test(bytes.slice(Math.max(0, at - 2), at + 2));
    if (isShort || isNearEnd || at % 1009 === 0) yield [bytes.slice(0, at), bytes.slice(at)];
  }
}
