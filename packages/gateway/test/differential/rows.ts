import { errorCodes } from './router.ts';

/** One request that is sent to both servers. */
export interface Row {
  readonly name: string;
  readonly method: string;
  /** The path below `/trpc`, with its leading slash, and the query. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  /** The option that both servers run with. Default: none. */
  readonly option?: ServerOption;
}

/** An option of both servers. */
export type ServerOption =
  | 'maxBatchSize'
  | 'noBatching'
  | 'methodOverride'
  | 'responseMeta'
  | 'contextFails'
  | 'contextThrows'
  | 'smallBodies';

type Headers = NonNullable<Row['headers']>;
const json: Headers = [['Content-Type', 'application/json']];
const inputQuery = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`;
const get = (name: string, target: string, headers?: Headers): Row => ({
  name,
  method: 'GET',
  target,
  ...(headers && { headers }),
});
const post = (name: string, target: string, body: Row['body'], headers: Headers = json): Row => ({
  name,
  method: 'POST',
  target,
  headers,
  ...(body !== undefined && { body }),
});
const withSetting = (setting: ServerOption, rows: readonly Row[]): Row[] =>
  rows.map((row) => ({ ...row, name: `${row.name}, with ${setting}`, option: setting }));

const queries: Row[] = [
  get('a query without input', '/hello'),
  get('a query that returns undefined', '/nothing'),
  get('a query that returns null', '/nil'),
  get('a query that returns a Date', '/at'),
  get('a query that returns text beyond ASCII', '/text'),
  get('a query that returns a bigint, which JSON cannot represent', '/big'),
  get('a nested query', '/deep.er.hello'),
  get('a query of a lazy router', '/later.hello'),
  get('an input', `/add?${inputQuery({ a: 1, b: 2 })}`),
  get('an input with a default left out', `/add?${inputQuery({ a: 1 })}`),
  get('an input of null', `/echo?${inputQuery(null)}`),
  get('an input of text', `/echo?${inputQuery('text')}`),
  get('an input of a number', '/echo?input=5'),
  get('an input of a number that a double rounds', '/echo?input=9007199254740993'),
  get('an input with a __proto__ member', '/echo?input=%7B%22__proto__%22%3A%7B%22a%22%3A1%7D%7D'),
  get('an input beyond ASCII', `/echo?${inputQuery('ü🐶')}`),
  get('an input with a lone surrogate', '/echo?input=%22%5Cud800%22'),
  get('an input with a raw plus, which is a space', '/echo?input=%22a+b%22'),
  get('a missing input that is required', '/add'),
  get('a missing input that is optional', '/optional'),
  get('an empty input parameter', '/optional?input='),
  get('an input of the wrong type', `/add?${inputQuery({ a: '1' })}`),
  get('an input that lacks a member', `/add?${inputQuery({})}`),
  get('an input that is not an object', `/add?${inputQuery([])}`),
  get('an input with several errors', `/add?${inputQuery({ a: 'x', b: null })}`),
  get('an input with an unknown member that its schema drops', `/add?${inputQuery({ a: 1, c: 3 })}`),
  get('an input with an unknown member that its schema rejects', `/strict?${inputQuery({ n: 1, m: 2 })}`),
  get('chained inputs', `/chained?${inputQuery({ a: 'x', b: 'y' })}`),
  get('chained inputs whose second part is missing', `/chained?${inputQuery({ a: 'x' })}`),
  get('a transformed input', `/transformed?${inputQuery('5')}`),
  get('an asynchronously refined input', `/refined?${inputQuery('good')}`),
  get('an asynchronously refined input that fails', `/refined?${inputQuery('bad')}`),
  get('an input that is sent twice', `/echo?${inputQuery(1)}&${inputQuery(2)}`),
  get('an input that is not JSON', '/echo?input=%7B'),
  get('an input that is not valid percent-encoding', '/echo?input=%'),
  get('an input whose percent-encoding is not UTF-8', '/echo?input=%22%ff%22'),
  get('an unknown parameter', '/hello?x=1'),
  get('an output that its schema rejects', '/lies'),
  get('an output that its schema trims', '/trims'),
  get('a middleware’s context', '/tagged'),
  get('an async iterable without streaming', '/iterable'),
  get('the context’s view of a call', `/context?${inputQuery({ a: 1 })}`),
];

const mutations: Row[] = [
  post('a mutation', '/write', '{"name":"Rex"}'),
  post('a mutation without input or output', '/touch', undefined),
  post('a mutation with an empty body', '/write', ''),
  post('a mutation whose body is only white space', '/write', '  '),
  post('a mutation with a body of null', '/write', 'null'),
  post('a mutation whose body is not JSON', '/write', '{"name":'),
  post('a mutation whose body has a byte order mark', '/write', '\ufeff{"name":"Rex"}'),
  post(
    'a mutation whose body is not UTF-8',
    '/write',
    new Uint8Array([123, 34, 110, 97, 109, 101, 34, 58, 34, 255, 34, 125]),
  ),
  post('a mutation whose body has two values', '/write', '{"name":"Rex"}{"name":"Max"}'),
  post('a mutation of the wrong type', '/write', '{"name":5}'),
  post('a mutation whose input is in the query', `/write?${inputQuery({ name: 'Rex' })}`, undefined),
  post('a mutation with a large body', '/write', JSON.stringify({ name: 'x'.repeat(200_000) })),
  post('a mutation of a name beyond ASCII', '/write', '{"name":"ü🐶"}'),
];

const mediaTypes: Row[] = [
  ...[
    'application/json; charset=utf-8',
    'application/json;charset=latin1',
    'APPLICATION/JSON',
    ' application/json ; x=y',
    'application/jsonl',
    'application/vnd.api+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'nonsense',
    '"',
  ].map((type) =>
    post(`a mutation of the media type ${JSON.stringify(type)}`, '/write', '{"name":"Rex"}', [
      ['Content-Type', type],
    ]),
  ),
  post('a mutation without a media type', '/write', '{"name":"Rex"}', []),
  post('a mutation without a media type or a body', '/touch', undefined, []),
  get('a query of another media type', '/hello', [['Content-Type', 'text/plain']]),
  get('a query of the media type of a form', '/hello', [['Content-Type', 'multipart/form-data; boundary=x']]),
  get('a query of the media type of bytes', '/hello', [['Content-Type', 'application/octet-stream']]),
  post('a form', '/upload', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n', [
    ['Content-Type', 'multipart/form-data; boundary=x'],
  ]),
  post('a form without its boundary', '/upload', '--x--\r\n', [['Content-Type', 'multipart/form-data']]),
  post('a form that is cut', '/upload', '--x\r\nContent-Disp', [
    ['Content-Type', 'multipart/form-data; boundary=x'],
  ]),
  post('a form for a procedure that takes JSON', '/write', '--x--\r\n', [
    ['Content-Type', 'multipart/form-data; boundary=x'],
  ]),
  post('JSON for a procedure that takes a form', '/upload', '{}'),
  post('bytes', '/bytes', new Uint8Array(1000), [['Content-Type', 'application/octet-stream']]),
  post('no bytes', '/bytes', '', [['Content-Type', 'application/octet-stream']]),
  post('bytes for a procedure that takes JSON', '/write', new Uint8Array(10), [
    ['Content-Type', 'application/octet-stream'],
  ]),
];

const batch = (names: string, inputs?: unknown, more = '') =>
  `/${names}?batch=1${inputs === undefined ? '' : `&${inputQuery(inputs)}`}${more}`;

const batches: Row[] = [
  get('a batch of one', batch('hello')),
  get('a batch of two', batch('hello,add', { 1: { a: 1 } })),
  get('a batch in which the first fails', batch('add,hello', { 0: {} })),
  get('a batch in which the second fails', batch('hello,add', { 1: {} })),
  get('a batch whose calls fail with the same error', batch('add,add', { 0: {}, 1: {} })),
  get('a batch whose calls fail with different errors', batch('add,throwCode', { 0: {}, 1: 'NOT_FOUND' })),
  get('a batch of one procedure, in order', batch('add,add,add', { 0: { a: 1 }, 1: { a: 2 }, 2: { a: 3 } })),
  get('a batch with an input of a call that it does not have', batch('hello', { 7: 1 })),
  get('a batch with inputs of null', batch('echo,echo', { 0: null, 1: null })),
  get('a batch without inputs', batch('optional,optional')),
  get('a batch whose inputs are an array', batch('add,add', [{ a: 1 }, { a: 2 }])),
  get('a batch whose inputs are text', batch('echo', 'x')),
  get('a batch whose inputs are null', batch('echo', null)),
  get('a batch whose inputs are not JSON', '/hello,add?batch=1&input=%7B'),
  get('a batch of queries with an unknown procedure', batch('hello,missing')),
  get('a batch of queries with a mutation', batch('hello,touch')),
  get('a batch without a procedure', batch('')),
  get('a batch with an empty name', batch('hello,')),
  get('a batch of commas', batch(',,')),
  get('a batch with a subscription', batch('ticks')),
  get('a batch of 100', batch(Array.from({ length: 100 }, () => 'hello').join(','))),
  get('a batch whose comma is percent-encoded', '/hello%2Chello?batch=1'),
  get('batch=0, which does not make a batch', '/hello,hello?batch=0'),
  get('batch=true, which does not make a batch', '/hello,hello?batch=true'),
  get('batch that is sent twice', '/hello?batch=1&batch=0'),
  get('the context’s view of a batch', batch('context,hello')),
  post('a batch of mutations', '/write,touch?batch=1', '{"0":{"name":"Rex"}}'),
  post('a batch of mutations in which one fails', '/write,write?batch=1', '{"0":{"name":"Rex"},"1":{}}'),
  post('a batch of mutations whose body is not JSON', '/write,touch?batch=1', '{'),
  post('a batch of mutations without a body', '/touch,touch?batch=1', undefined),
  post('a batch of mutations with a query', '/touch,hello?batch=1', '{}'),
  post('a batch of forms', '/upload,upload?batch=1', '--x--\r\n', [
    ['Content-Type', 'multipart/form-data; boundary=x'],
  ]),
];

const wrongMethods: Row[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].flatMap((method) => [
  {
    name: `${method} of a query`,
    method,
    target: '/hello',
    headers: json,
    ...(method === 'HEAD' ? {} : { body: '{}' }),
  },
]);
const otherMethods: Row[] = [
  get('GET of a mutation', '/touch'),
  { name: 'DELETE of a mutation', method: 'DELETE', target: '/touch', headers: json },
  { name: 'PUT of a mutation without a media type', method: 'PUT', target: '/touch' },
  { name: 'HEAD of a mutation', method: 'HEAD', target: '/touch' },
  { name: 'HEAD of an unknown procedure', method: 'HEAD', target: '/missing' },
  { name: 'DELETE of an unknown procedure', method: 'DELETE', target: '/missing', headers: json },
  post('POST of a subscription', '/ticks', '{}'),
];

const paths: Row[] = [
  get('an unknown procedure', '/missing'),
  get('a router', '/deep'),
  get('a path below a procedure', '/hello.more'),
  get('a lazy router', '/later'),
  get('a name that every object inherits', '/constructor'),
  get('a name that every object inherits, below a router', '/deep.toString'),
  get('__proto__', '/__proto__'),
  get('no procedure', ''),
  get('no procedure, with a slash', '/'),
  get('a slash at the end', '/hello/'),
  get('two slashes at the end', '/hello//'),
  get('two slashes in front', '//hello'),
  get('a procedure in percent-encoding', '/%68ello'),
  get('an encoded slash', '/deep%2Fer'),
  get('a path that is not valid percent-encoding', '/%zz'),
  get('a path whose percent-encoding is not UTF-8', '/%ff'),
  get('a dot segment', '/x/../hello'),
  get('another case', '/Hello'),
  get('a name with a space', '/he%20llo'),
  get('a very long name', `/${'x'.repeat(2000)}`),
];

const headers: Row[] = [
  get('a batch with Accept: application/jsonl', '/hello', [['Accept', 'application/jsonl']]),
  get('a single call with trpc-accept: application/jsonl', '/hello', [['trpc-accept', 'application/jsonl']]),
  get('an empty trpc-accept', '/hello', [['trpc-accept', '']]),
  get('an unknown trpc-accept', '/hello', [['trpc-accept', 'application/x']]),
  get('an Accept that is not supported', '/hello', [['Accept', 'image/png']]),
  get('a query whose Content-Type is sent twice', '/hello', [
    ['Content-Type', 'application/json'],
    ['Content-Type', 'text/plain'],
  ]),
  post('a mutation whose Content-Type is sent twice', '/write', '{"name":"Rex"}', [
    ['Content-Type', 'application/json'],
    ['Content-Type', 'text/plain'],
  ]),
  get('connection parameters', `/context?connectionParams=${encodeURIComponent('{"a":"b"}')}`),
  get('connection parameters that are not JSON', '/hello?connectionParams=%7B'),
  get('connection parameters of the wrong shape', '/hello?connectionParams=%5B1%5D'),
  get('a header beyond ASCII', '/hello', [['X-Name', 'a\u00fcb']]),
  get('a Last-Event-ID for a query', '/echo?input=5', [['Last-Event-ID', '7']]),
];

const errors: Row[] = [
  ...errorCodes.map((code) => get(`a ${code}`, `/throwCode?${inputQuery(code)}`)),
  get('a thrown Error', `/throws?${inputQuery('error')}`),
  get('thrown text', `/throws?${inputQuery('text')}`),
  get('a thrown undefined', `/throws?${inputQuery('nothing')}`),
  get(
    'an error to which the formatter adds the input of its call, in a batch',
    batch('echo,throws,throws', { 0: 'first', 1: 'formatted', 2: 'error' }),
  ),
  get('an error that the formatter changes', `/throws?${inputQuery('formatted')}`),
];

const settings: Row[] = [
  ...withSetting('maxBatchSize', [
    get('a batch as large as allowed', batch('hello,hello')),
    get('a batch too large', batch('hello,hello,hello')),
    post('a batch of mutations too large', '/touch,touch,touch?batch=1', '{}'),
  ]),
  ...withSetting('noBatching', [get('a batch', batch('hello')), get('a call', '/hello')]),
  ...withSetting('methodOverride', [
    post('POST of a query', '/add', '{"a":1}'),
    post('POST of a batch of queries', '/add,add?batch=1', '{"0":{"a":1},"1":{"a":2}}'),
    get('GET of a mutation', '/touch'),
    { name: 'PUT of a query', method: 'PUT', target: '/hello', headers: json, body: '{}' },
  ]),
  ...withSetting('responseMeta', [
    get('a query', '/hello'),
    get('a failing query', '/missing'),
    get('a batch', batch('hello,missing')),
  ]),
  ...withSetting('contextFails', [
    get('a query', '/hello'),
    get('a batch', batch('hello,add', { 1: { a: 1 } })),
    get('an unknown procedure', '/missing'),
    get('a wrong method', '/touch'),
    post('a wrong media type', '/write', '{}', [['Content-Type', 'text/plain']]),
  ]),
  ...withSetting('contextThrows', [get('a query', '/hello'), get('a batch', batch('hello,hello'))]),
  ...withSetting('smallBodies', [
    post('a body too large', '/write', JSON.stringify({ name: 'x'.repeat(200) })),
    post(
      'a batch whose body is too large',
      '/write,write?batch=1',
      JSON.stringify({ 0: { name: 'x'.repeat(200) } }),
    ),
    post('a body too large for a procedure that reads none', '/touch', 'x'.repeat(200)),
    post('a body too large for an unknown procedure', '/missing', 'x'.repeat(200)),
  ]),
];

/** All requests that are sent to both servers. */
export const rows: readonly Row[] = [
  ...queries,
  ...mutations,
  ...mediaTypes,
  ...batches,
  ...wrongMethods,
  ...otherMethods,
  ...paths,
  ...headers,
  ...errors,
  ...settings,
];
