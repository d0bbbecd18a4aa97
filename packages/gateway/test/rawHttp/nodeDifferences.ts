import { create, list } from './wire.ts';

/**
 * What the adapter on node:http accepts or rejects otherwise than the one on uWebSockets.js, which is in the cases. Where
 * both reject, they may do so differently: with 400, 505 or no response, at once or after 10 s.
 */
interface NodeDifference {
  /** Why it is so. */
  readonly why: string;
  /** What the adapter does, in the words of `tell`. */
  readonly node: string;
  /** The requests that it finds, where a strict reader finds others. */
  readonly serves?: readonly string[];
  /** The names of the cases. */
  readonly cases: readonly string[];
}

export const nodeDifferences: readonly NodeDifference[] = [
  {
    why: 'Node’s parser knows the registered methods alone, in upper case. CONNECT is for proxies.',
    node: '400, closed',
    cases: [
      'CONNECT /trpc/listPets opens no tunnel: 405',
      'HEAd /trpc/listPets runs no query: 405',
      'PoST /trpc/createPet runs no mutation: 405',
      'TRACK /trpc/listPets runs no query: 405',
      'a CONNECT with a path opens no tunnel',
      'a body of a CONNECT with a path is not run',
      'a body of an unknown method is not run',
      'a method in lower case is another method',
      'an unknown method that is a token is answered',
      'get /trpc/listPets runs no query: 405',
      'options /trpc/listPets runs no query: 405',
      'post /trpc/createPet runs no mutation: 405',
    ],
  },
  {
    why: 'RFC 9112 §3 lets a recipient split a request line at white space. Node’s parser does, and does not say so.',
    node: '200, open',
    serves: [list],
    cases: ['two spaces before the version are refused', 'two spaces after the method are refused'],
  },
  {
    why: 'RFC 9112 §3.2.2: a server must accept the absolute form. It must name the host of `Host`.',
    node: '200, open',
    cases: ['an absolute-form target is answered'],
  },
  {
    why: 'RFC 9112 §2.2: a server should ignore an empty line before a request.',
    node: '200, open',
    cases: ['an empty line in front is skipped or refused'],
  },
  {
    why: 'RFC 9112 §3.2.4: `OPTIONS *` asks about the server.',
    node: '404, open',
    cases: ['an asterisk target is answered'],
  },
  {
    why: 'HTTP/1.0 is answered, and its connection closed.',
    node: '200, closed',
    cases: ['HTTP/1.0 is answered'],
  },
  {
    why: 'HTTP/1.0 is answered, and its connection closed.',
    node: '415, closed',
    serves: [create],
    cases: ['HTTP/1.0 with a body is not taken for two requests'],
  },
  {
    why: 'There is no limit but that of their bytes.',
    node: '200, open',
    serves: [list],
    cases: ['three hundred headers are refused'],
  },
  {
    why: 'Node’s parser drops what comes behind it in one packet, so its connection is closed.',
    node: '200, closed',
    serves: [list],
    cases: ['an Upgrade with a body: it is not run', 'an Upgrade to a WebSocket with a body: it is not run'],
  },
  {
    why: 'Node’s parser reads trailers: another request may follow a chunked one on its connection.',
    node: '201, open',
    cases: [
      'a body in several chunks is one body',
      'a chunk size in upper case is taken',
      'a chunk size of very many zeros is its number',
      'a chunk size with leading zeros is taken',
      'a chunked POST is served',
      'a last chunk of several zeros is the last',
      'a trailer is not taken for a request',
      'chunked in another case is served',
      'several trailers are not taken for requests',
    ],
  },
  {
    why: 'Node’s parser reads trailers: another request may follow a chunked one on its connection.',
    node: '200, open',
    cases: ['a chunked GET is served'],
  },
  {
    why: 'Node’s parser reads trailers: another request may follow a chunked one on its connection.',
    node: '400, open',
    cases: ['an empty chunked body is empty'],
  },
  {
    why: 'Node’s parser reads trailers: another request may follow a chunked one on its connection.',
    node: '201 200, open',
    cases: ['a request behind a chunked one waits for its answer, or the connection closes'],
  },
  {
    why: 'RFC 9112 §7.1.1: a recipient must ignore chunk extensions that it does not know.',
    node: '201, open',
    cases: [
      'a chunk extension in quotes is ignored',
      'a chunk extension is ignored',
      'a chunk extension without a value is ignored',
      'an extension of the last chunk is ignored',
    ],
  },
  {
    why: 'Node reads the head before the body: the request is being handled when its body turns out to be malformed, and the connection is closed.',
    node: 'nothing, closed',
    cases: [
      'a Content-Length in a trailer frames nothing',
      'a bare CR in an extension is refused',
      'a bare LF in an extension does not end its line',
      'a blank before a chunk size is refused',
      'a chunk size beyond 64 bits is refused',
      'a chunk size of letters is refused',
      'a chunk size of very many digits is refused',
      'a chunk size with 0x is refused',
      'a chunk size with a plus is refused',
      'a chunk that is longer than its size is refused',
      'a chunk that is shorter than its size swallows what follows',
      'a huge chunk extension is bounded',
      'a negative chunk size is refused',
      'a quoted CRLF in an extension ends its line',
      'an empty chunk size is refused',
    ],
  },
  {
    why: 'Node’s parser takes no blank behind `chunked`.',
    node: 'nothing, closed',
    cases: ['chunked with blanks around is served'],
  },
  {
    why: 'uWebSockets.js cannot be kept from accepting it.',
    node: '400, closed',
    cases: [
      'a Content-Length behind an empty name: the rest is not run',
      'a Content-Length that ends in a byte beyond ASCII is refused',
      'a header with an empty name is refused',
    ],
  },
  {
    why: 'Node’s parser knows `close` and `keep-alive` alone.',
    node: '200, open',
    cases: ['another option of five letters closes nothing, or closes'],
  },
  {
    why: 'Whether a body follows is not known.',
    node: '200, closed',
    cases: ['Expect: 100-continue without a body is answered'],
  },
  {
    why: 'What Node’s parser rejects behind a request is answered, too.',
    node: '404 400, closed',
    cases: [
      'a framing error in a pipelined request ends the connection',
      'an error in a pipelined request leaves the first answered',
      'garbage behind a request ends the connection',
    ],
  },
  {
    why: 'Node’s parser takes it for `Connection`, and closes at once when another request follows.',
    node: 'nothing, closed',
    cases: ['a Proxy-Connection says nothing'],
  },
];
