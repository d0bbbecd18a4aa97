/** Every way to cut bytes that is tried: whole, byte by byte, and in two at each offset. */
export function* splits(bytes: string): Generator<readonly string[]> {
  yield [bytes];
  // One that is very long is cut where it may matter: around its lines' ends, and here and there between.
  const isShort = bytes.length <= 700;
  if (isShort) {
    yield bytes.split('');
    // uWebSockets.js 20 gives up on a request line in pieces: so that what is behind it comes byte by byte, too.
    const line = bytes.indexOf('\n') + 1;
    yield [bytes.slice(0, line), ...bytes.slice(line).split('')];
  }
  for (let at = 1; at < bytes.length; at += 1) {
    const isNearEnd = /[\r\n:]/.test(bytes.slice(Math.max(0, at - 2), at + 2));
    if (isShort || isNearEnd || at % 1009 === 0) yield [bytes.slice(0, at), bytes.slice(at)];
  }
}
