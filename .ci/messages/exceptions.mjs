/** tRPC's own messages, word for word: suites compare them with those of its adapters. */
export const trpcMessages = [
  'Output validation failed',
  'No result from middlewares - did you forget to `return next()`?',
  'middleware is not a function',
  'Ping interval must be less than client reconnect interval to prevent unnecessary reconnection - ping.intervalMs: {intervalMs} client.reconnectAfterInactivityMs: {reconnectAfterInactivityMs}',
  'Missing experimental flag "sseSubscriptions"',
  'Subscription {paths} did not return an observable or a AsyncGenerator',
  'Subscription {path} did not return an observable or a AsyncGenerator',
  'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  'Unsupported content-type "{contentType}',
  'Missing content-type header',
  'Invalid input',
  'Invalid URL',
  'Batching is not enabled on the server',
  'Streaming requests must be batched (you can do a batch of 1)',
  'Batch call exceeds maximum size',
  'Cannot mix procedure types in call: {types}',
  'Only POST requests are supported for {type} requests',
  '"input" needs to be an object when doing a batch call',
  'Invalid URL-encoding in path "{path}"',
  'No procedure found on path "{paths}"',
  'Unsupported {method}-request to {type} procedure at path "{paths}"',
  'Cannot batch subscription calls',
  'No "{type}"-procedure on path "{path}"',
  'Cannot return an async iterable or observable from a {type} procedure with WebSockets',
  'jsonEncoder received binary data. {text}',
  'JSON uses text frames. Use a binary encoder for binary data.',
  'Message was not an object',
  'Malformed TRPCConnectionParamsMessage',
  '`id` is required',
  'Duplicate id {id}',
];

/**
 * Messages that a rule does not hold for, with the reason.
 *
 * @type {Record<string, Record<string, string>>}
 */
export const exceptions = {
  'ends with a period': {
    'Internal server error': 'The message of every internal error, over REST as over tRPC.',
    'Received too big message': 'The text of uWebSockets.js, which is compared.',
    'These options cannot be read': 'Thrown and caught by one function.',
    'The route {method} {path}': 'A subject of other messages.',
    'The schema {name}': 'A subject of other messages.',
    'The error shape': 'A subject of other messages.',
  },
  'names its subject, and does not begin with "It"': {},
  'has no word of the glossary': {},
  'has at most 35 words': {
    'No uWebSockets.js binary is installed for Node {version} on {platform}-{arch}. If this is Node 22 and npm ran on an older Node, which leaves the binaries out, run npm install again with this one. Otherwise, serve with "@petstore/gateway/node", run Node 22 on Linux (glibc), macOS or Windows, or install the official build, which has binaries for Node 22, 24 and 26: add "overrides": { "uWebSockets.js": "github:uNetworking/uWebSockets.js#v20.69.0" } to package.json and, for npm 12 or newer, allow-git=all to .npmrc.':
      'Four fixes, two of them with lines to copy.',
    'The scheme "{name}" reads {reads}, but uWebSockets.js removes bytes outside ASCII at the start of a header, so a sibling subdomain could set this cookie by another name. Serve the gateway with @petstore/gateway/node, or let a proxy reject such Cookie headers and set proxyRejectsNonAscii: true in cookie().':
      'An attack that few readers know, and two fixes.',
    'publicUrl is {publicUrl}, and restBasePath is "{restBasePath}", which begins with "{publicPath}" too: links would begin with "{publicPath}{restBasePath}". If the proxy or the framework removes {publicPath}, set restBasePath to "{restBasePath}"; if it does not, set publicUrl to {origin}.':
      'Two options, and the fix of either.',
  },
  'is written in one file': {
    'The message is larger than {maxMessageBytes} bytes.': 'Each adapter closes its sockets with it.',
    'Idempotency-Key: was used with another input. Use a new key.':
      'The gateway and the stores keep keys of their own.',
    'The client disconnected.': 'The reason of an abort, and the error of what was aborted.',
    'The credential is missing or not valid.': 'The message, and its description in the document.',
    'The idempotency key was used with another input.': 'Both stores report it.',
    'The request is not HTTP/1.1 (RFC 9112 §2.3).': "Node's parser rejects some, and the adapter others.",
    'The response header {name} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Content-Length, Connection and Transfer-Encoding are set by the server.':
      'A procedure and a hook can set one.',
    'The server is stopping.': 'The message of a response, and the reasons of closed sockets.',
    'The {recordName} {id} already has the same {field}.': 'Both stores report it.',
    'An API key named {name} already exists.': 'Both stores report it.',
    'There is no route at this path.':
      'The adapters, the routes and the admin listener have paths of their own.',
    'There is no resource with this identifier.': 'The message, and its description in the document.',
  },
};
