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
    'The procedure {path}': 'A subject of other messages.',
    'The schema {name}': 'A subject of other messages.',
    'The error shape': 'A subject of other messages.',
    'Leave .readonly() out': 'To be reworded.',
    'Say it: .pipe(schema) after it': 'To be reworded.',
    "State it: .meta({ typescript: '…' })": 'To be reworded.',
  },
  'names its subject, and does not begin with "It"': {
    'It is in the database {place} already: {why}.': 'To be reworded.',
    'Its Content-Type must have a boundary of 1 to 70 characters.': 'To be reworded.',
    'It ends before its last boundary.': 'To be reworded.',
    'It has no JSON Schema for what it calls "{code}".': 'To be reworded.',
    'Its metadata declares produces: "{contentType}" but it returned {output}. Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.':
      'To be reworded.',
    'It took longer than {checkMs} ms.': 'To be reworded.',
  },
  'has no word of the glossary': {
    'The database {place} refuses this user ({why}): check the credentials in its URI and the rights of the user.':
      'To be reworded.',
    'Too many answers wait to be read. Try again later.': 'To be reworded.',
    'describes the body or the answer, and OpenAPI ignores a parameter of this name; read it in createContext':
      'To be reworded.',
    'The server is asked for more than it can answer. Try again later.': 'To be reworded.',
    'The answer is larger than {maxBytes} bytes (maxResponseBytes). The call has run; request less at once, such as a smaller page.':
      'To be reworded.',
    'The answers of this batch are larger than {maxBytes} bytes together (maxResponseBytes). The call has run; send fewer calls in a batch, or request smaller pages.':
      'To be reworded.',
    "The proxies in front, whose `X-Forwarded-For` tells a client's address; that of other peers is ignored":
      'To be reworded.',
    'The address of the admin listener. Anyone who reaches it can read the metrics': 'To be reworded.',
    'Nobody calls this gateway.': 'To be reworded.',
  },
  'has at most 35 words': {
    '{file} was removed from the data folder {dataDir}, or replaced, while this process had it open: what was written since is lost. Stop every process that uses the folder, put it back or restore it, and start again.':
      'To be reworded.',
    'No binary of uWebSockets.js is installed for Node {version} on {platform}-{arch}: serve with "@petstore/gateway/node" instead, run Node 22 on Linux (glibc), macOS or Windows, or install the official build, which has binaries for Node 22, 24 and 26, by "overrides": { "uWebSockets.js": "github:uNetworking/uWebSockets.js#v20.69.0" } in package.json and, from npm 12 on, allow-git=all in .npmrc.':
      'To be reworded.',
  },
  'is written in one file': {
    'A message may have {maxMessageBytes} bytes.': 'Each adapter closes its sockets with it.',
    'The client went away.': 'The reason of an abort, and the error of what was aborted.',
    'The credential is missing or not valid.': 'The message, and its description in the document.',
    'The idempotency key was used with another input.': 'Both stores report it.',
    'The request is not one of HTTP/1.1 (RFC 9112 §2.3).':
      "Node's parser rejects some, and the adapter others.",
    'The response header {name} cannot be written as it is.': 'A procedure and a hook can set one.',
    'The server is stopping.': 'The message of a response, and the reasons of closed sockets.',
    'The {recordName} {id} has the same {field} already.': 'Both stores report it.',
    'There is an API key named {name} already.': 'Both stores report it.',
    'There is nothing at this path.':
      'The adapters, the routes and the admin listener have paths of their own.',
    'There is nothing with this identifier.': 'The message, and its description in the document.',
    'This path takes {allow}.': 'Both protocols have paths with methods.',
  },
};
