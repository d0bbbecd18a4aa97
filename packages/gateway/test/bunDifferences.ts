/** Tests that adapters on a port pass and Bun does not, which adapters/vitest.bun.config.ts leaves out: the ends of their names, by what Bun does instead. */
export const bunDifferences: Readonly<Record<string, readonly string[]>> = {
  'Bun does not count connections: a stop waits for graceMs, whether there are any or not.': [
    'close() resolves as soon as its clients have closed their WebSockets',
  ],
  'Bun does not count connections: maxConnections limits requests in flight and WebSockets.': [
    'an open WebSocket counts as a connection for maxConnections',
    'closing WebSockets take at most a quarter of maxConnections, and count as connections',
    'serve with tls closes a connection over maxConnections',
  ],
  'Bun does not report how much of a response is unsent: maxUnsentSize limits WebSockets alone.': [
    'over maxUnsentSize, a large response is replaced by 503 and an unread small one closes the connection',
  ],
  'Bun closes a WebSocket with 1009 for a message that is far too large.': [
    'a WebSocket is closed for a message that is far too large, and limited is called with message-bytes',
  ],
  'Bun’s parser rejects a head without a JSON body or a record, and accepts DEL in a header.': [
    'bytesIn is the number of bytes received, not the announced length: "Content-Length: 99999999999999999"',
    'a request beyond the limit header-bytes is rejected and its record has the name; one at the limit is served: /v1/list',
  ],
  'Bun answers a client that sends a body in chunks of one byte, where the others close its connection, and buffers a body itself.':
    [
      'a body in 20,000 chunks takes no more memory than its bytes',
      '50,000 chunks of one byte that arrive together close the connection',
    ],
  'Bun reads an endless body to its end after the response, and sends a stream that is complete at once with its length.':
    ['at most 1 MiB of an endless body is read after the response, which has Connection: close'],
  'Bun keeps the connection open after a body that was not read, and its fetch names a broken response ECONNRESET.':
    [
      'request.body rejects after the response was sent',
      'a rejected chunked body is read to its end, so that the client gets the response, not a reset',
    ],
};
