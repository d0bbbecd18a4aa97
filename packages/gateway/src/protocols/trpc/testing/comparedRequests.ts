import { outputs } from './comparedOutputs.ts';
import { errorCodes, settings, type SettingName } from './comparedRouter.ts';

/** A request that the gateway and tRPC's own code answer alike. */
export interface Row {
  readonly name: string;
  readonly method: string;
  /** Below the base path, with its slash. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  /** Default: `default` alone. */
  readonly settings?: readonly SettingName[];
}

type More = Pick<Row, 'headers' | 'settings'>;

const by = (method: string, name: string, target: string, more: Partial<Row> = {}): Row => ({
  name,
  method,
  target,
  ...more,
});

const json = [['content-type', 'application/json']] as const;
const lines = [['trpc-accept', 'application/jsonl']] as const;
const acceptLines = [['accept', 'text/html, application/jsonl']] as const;
const form = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
const multipart = [['content-type', 'multipart/form-data; boundary=x']] as const;
const octets = [['content-type', 'application/octet-stream']] as const;

const inputQuery = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const get = (name: string, target: string, more: More = {}) => by('GET', name, target, more);
/** A POST, of JSON by default. */
const post = (name: string, target: string, body: Row['body'], more: More = {}) =>
  by('POST', name, target, { headers: json, ...(body !== undefined && { body }), ...more });

/** Settings of streams, which no other response depends on. */
const streamSettings = new Set<SettingName>([
  'reconnects',
  'pings',
  'pingsAtReconnect',
  'pingsAfterReconnect',
  'pingsByDefaultAtReconnect',
  'pingsByDefaultAfterReconnect',
  'endsImmediately',
  'endsInTime',
  'otherLinesType',
  'linesPings',
]);
const allSettings = (Object.keys(settings) as SettingName[]).filter((name) => !streamSettings.has(name));
/** For outputs and errors that cannot be encoded: tRPC calls `responseMeta` for the success and for the error then. */
const withoutMeta = allSettings.filter((name) => !name.startsWith('meta'));

/** Settings with which tRPC starts a stream of events that it never sends, and reports its error. */
const unsentStreamSettings: ReadonlySet<SettingName> = new Set([
  'metaThrows',
  'metaThrowsForSuccess',
  'metaBodiless',
  'metaNoStatus',
]);
const sendingStreams = allSettings.filter((name) => !unsentStreamSettings.has(name));

/** Batches of three calls as JSON lines, with each output once. */
const outputsAsLines: readonly Row[] = Array.from({ length: Math.ceil(outputs.length / 3) }, (_, batch) => {
  const indexes = [0, 1, 2].map((at) => (3 * batch + at) % outputs.length);
  const target = `/output,output,output?batch=1&${inputQuery(Object.fromEntries(indexes.entries()))}`;
  return get(`lines of the outputs ${indexes.join(', ')}`, target, {
    headers: lines,
    settings: ['default', 'transformer'],
  });
});

export const rows: readonly Row[] = [
  get('a query', '/hello', { settings: allSettings }),
  get('a query with an input', `/echo?${inputQuery({ a: [1, 'ü'] })}`, { settings: allSettings }),
  get('a query of a nested router', '/deep.hello'),
  get('a query by another separator', '/deep-hello', { settings: ['default', 'separator'] }),
  get('a query by an unusual separator', '/deep~hello', { settings: ['unusualSeparator'] }),
  get('a batch by another separator', '/deep-hello,hello?batch=1', { settings: ['separator'] }),
  get('an encoded separator', '/deep%2Dhello', { settings: ['default', 'separator'] }),
  get('an output of undefined', '/nothing', { settings: ['default', 'transformer'] }),
  get('an output of null', '/nil'),
  get('an output with toJSON', '/money', { settings: ['default', 'transformer'] }),
  get('outputs with toJSON in a batch', '/money,moneys,nothing?batch=1'),
  get('an output that JSON cannot encode', '/big', { settings: withoutMeta }),
  get('an output that JSON cannot encode, in a batch', '/hello,big,missing?batch=1', {
    settings: withoutMeta,
  }),
  get('an output that the transformer rejects', '/unencodable', { settings: ['transformer'] }),
  get('an output that is a function', '/method,method?batch=1'),
  get('an output beyond ASCII', '/text'),
  get('a stream in a call', '/iterable', { settings: allSettings }),
  get('a promise in a call', '/promised'),
  get('streams in a batch', '/iterable,hello,promised?batch=1', { settings: allSettings }),
  get('a call that fails', `/conflict?${inputQuery('no')}`, { settings: allSettings }),
  get('a call whose error has a status of its own', `/conflict?${inputQuery('teapot')}`),
  get('a call whose error cannot be formatted', `/conflict?${inputQuery('unformattable')}`, {
    settings: ['default', 'metaHeaders'],
  }),
  get('a call whose error has no shape', `/conflict?${inputQuery('shapeless')}`),
  get('a call whose error cannot be serialized', `/conflict?${inputQuery('bigint')}`, {
    settings: ['default'],
  }),
  get('an input that the schema rejects', `/checked?${inputQuery({})}`, { settings: allSettings }),
  get('an input that is not JSON', '/echo?input=%7B', { settings: allSettings }),
  get('an input that cannot be deserialized', `/echo?${inputQuery('undecodable')}`, {
    settings: ['transformer'],
  }),
  get(
    'an input of a batch that cannot be deserialized',
    `/echo,hello,echo?batch=1&${inputQuery({ '0': { json: 1 }, '2': 'undecodable' })}`,
    { settings: ['transformer'] },
  ),
  get('an input of a batch that is not an object', '/echo,hello?batch=1&input=[1]'),
  get('a batch', `/echo,later,hello?batch=1&${inputQuery({ '0': 1, '1': 'x', '5': 2 })}`, {
    settings: allSettings,
  }),
  get(
    'a batch in which some calls fail',
    `/hello,conflict,conflict,checked?batch=1&${inputQuery({ '1': 'a', '2': 'teapot' })}`,
    { settings: allSettings },
  ),
  get('a batch in which all calls fail', `/conflict,conflict?batch=1&${inputQuery({ '0': 'a', '1': 'b' })}`, {
    settings: allSettings,
  }),
  get('a batch of one', '/hello?batch=1', { settings: allSettings }),
  get('a batch of commas', '/,,?batch=1'),
  get('a batch of query and mutation', '/hello,write?batch=1', { settings: allSettings }),
  post('a batch of a mutation and an unknown procedure', '/missing,write?batch=1', '{"1":5}'),
  get('a batch of query and subscription', '/hello,count?batch=1'),
  get('a batch of subscriptions', '/count,count?batch=1&lastEventId=5', {
    settings: ['default', 'contextReadsInput', 'metaObject'],
  }),
  get('batch=1 encoded', '/hello?batch=%31'),
  get('batch twice', '/hello?batch=0&batch=1'),
  get('input twice', '/echo?input=1&input=2'),
  get('input encoded', '/echo?inp%75t=1'),
  get('an empty input', '/echo?input='),
  get('an input without a value', '/echo?input&batch'),
  get('an input that is not UTF-8', '/echo?input=%22%FF%22'),
  get('an input with a broken escape', '/echo?input=%22%2%22'),
  get('an input with a plus', '/echo?input=%22a+b%2Bc%22'),
  get('a raw quote in the query', '/echo?input="it\'s"'),
  get('a GET with the content type of JSON', '/echo?input=1', { headers: json }),
  get('a GET with the content type of a form', '/echo?input=1', {
    headers: multipart,
    settings: allSettings,
  }),
  post('a mutation', '/write', '{"a":1}', { settings: allSettings }),
  post('a mutation without a body', '/write', undefined),
  post('a mutation with a query parameter', '/write?input=1', '2'),
  post('a mutation with a broken body', '/write', '{', { settings: allSettings }),
  post('a mutation with a byte order mark', '/write', '\ufeff1'),
  post('a mutation without an input, with a broken body', '/touch', '{'),
  post('a mutation that fails', '/failWrite', '1', { settings: allSettings }),
  post('a batch of mutations', '/write,touch?batch=1', '{"0":1}', { settings: allSettings }),
  post('a batch of mutations with a broken body', '/write,touch?batch=1', '{'),
  post('a content type of JSON with another case, spaces and a charset', '/write', '1', {
    headers: [['content-type', ' Application/JSON ; charset=x']],
  }),
  post('text', '/write', '1', { headers: [['content-type', 'text/plain']], settings: allSettings }),
  post('an urlencoded form', '/upload', 'a=1', {
    headers: [['content-type', 'application/x-www-form-urlencoded']],
  }),
  post('no content type', '/write', '1', { headers: [] }),
  post('a form', '/upload', form, { headers: multipart, settings: allSettings }),
  post('a form for a query', '/echo', form, {
    headers: multipart,
    settings: ['default', 'methodOverride', 'metaObject'],
  }),
  post('a form for a subscription', '/count', form, {
    headers: multipart,
    settings: ['default', 'methodOverride'],
  }),
  post('a form for an unknown procedure', '/missing', form, { headers: multipart, settings: allSettings }),
  post('a form that is broken', '/upload', '--x\r\n', { headers: multipart }),
  post('a form in a batch', '/upload,upload?batch=1', form, { headers: multipart }),
  post('a form that requests JSON lines', '/upload', form, { headers: [...multipart, ...lines] }),
  by('PUT', 'a form by PUT', '/upload', { body: form, headers: multipart }),
  post('octets', '/octets', 'some text', { headers: octets, settings: allSettings }),
  post('octets without a body', '/octets', undefined, { headers: octets }),
  post('octets for a mutation without an input', '/touch', 'some text', { headers: octets }),
  post('octets for a mutation of JSON', '/checked', '1', {
    headers: octets,
    settings: ['default', 'methodOverride'],
  }),
  post('JSON for octets', '/octets', '1'),
  get('an unknown procedure', '/missing', { settings: allSettings }),
  post('an unknown procedure by POST', '/missing', '{', { settings: allSettings }),
  get('the path __proto__', '/__proto__'),
  get('the path of a router', '/deep'),
  get('an empty path', ''),
  get('the path /', '/'),
  get('a trailing slash', '/hello/'),
  get('a path that is encoded', '/%68ello', { settings: allSettings }),
  get('a path with invalid percent-encoding', '/%zz', { settings: allSettings }),
  get('a path that is not UTF-8', '/%ff?batch=1'),
  get('an encoded comma', '/hello%2Chello?batch=1'),
  get('a comma in a single call', '/hello,hello'),
  get('a dot segment', '/x/../hello'),
  get('a backslash', '/x\\..\\hello'),
  get('GET of a mutation', '/write', { settings: allSettings }),
  post('POST of a query', '/checked', '{"n":1}', { settings: allSettings }),
  post('POST of a batch of queries', '/echo,hello?batch=1', '{"0":1}', { settings: allSettings }),
  by('PUT', 'PUT of a query', '/hello', {
    body: '1',
    headers: json,
    settings: ['default', 'methodOverride'],
  }),
  by('PATCH', 'PATCH of a mutation', '/touch', { headers: json, settings: ['default', 'methodOverride'] }),
  by('HEAD', 'HEAD', '/hello', { settings: allSettings }),
  by('HEAD', 'HEAD of a path with invalid percent-encoding', '/%zz'),
  get('connection parameters', '/hello?connectionParams=%7B%22a%22%3A%22b%22%7D'),
  get('connection parameters of null', '/hello?connectionParams=null'),
  get('connection parameters of another shape', '/hello?connectionParams=[1]', { settings: allSettings }),
  get('connection parameters that are not JSON', '/hello,write?batch=1&connectionParams=%7B'),
  post('connection parameters of a form', '/upload?connectionParams=%7B', form, { headers: multipart }),
  get('lines', `/echo,hello?batch=1&${inputQuery({ '0': 1 })}`, { headers: lines, settings: allSettings }),
  get('lines of a query and a mutation', `/conflict,missing,write?batch=1&${inputQuery({ '0': 'no' })}`, {
    headers: lines,
  }),
  get(
    'lines in which some calls fail',
    `/conflict,missing,hello,checked?batch=1&${inputQuery({ '0': 'no' })}`,
    { headers: lines, settings: ['default', 'transformer', 'contextFails', 'metaHeaders'] },
  ),
  post('lines of mutations', '/write,hello,touch?batch=1', '{"0":1}', { headers: [...lines, ...json] }),
  get('lines of which one cannot be encoded', '/big,hello?batch=1', {
    headers: lines,
    settings: ['default', 'transformer', 'metaHeaders', 'metaTransformer'],
  }),
  get('lines of promises and iterables', '/promised,iterable?batch=1', {
    headers: lines,
    settings: ['default', 'transformer', 'otherLinesType'],
  }),
  get('lines of a slow call', '/slow,hello?batch=1', { headers: lines, settings: ['linesPings'] }),
  get('lines for one call', '/hello', { headers: lines, settings: allSettings }),
  get('lines for a broken request', '/hello?batch=1&connectionParams=[1]', { headers: lines }),
  get('lines by Accept', '/hello?batch=1', { headers: acceptLines }),
  get('Accept with a parameter', '/hello?batch=1', { headers: [['accept', 'application/jsonl;q=1']] }),
  get('another trpc-accept', '/hello?batch=1', { headers: [['trpc-accept', 'x'], ...acceptLines] }),
  get('lines of a subscription', '/count?batch=1', { headers: lines }),
  get('a subscription', `/count?${inputQuery({ a: 1 })}`, { settings: allSettings }),
  get('a subscription after an event', `/count?${inputQuery({ a: 1 })}&lastEventId=7`),
  get('a subscription after an event without an input', '/count?Last-Event-Id=7', {
    settings: ['default', 'transformer', 'contextReadsInput'],
  }),
  get('a subscription after an event with an input that is not an object', '/count?input=[1]&lastEventId=7'),
  get('a subscription after an event by its header', '/count?lastEventId=7', {
    headers: [['Last-Event-ID', '8']],
  }),
  get('a subscription with connection parameters', '/count?connectionParams=%7B%22a%22%3A%22b%22%7D'),
  get('a subscription that fails', '/failCount', { settings: sendingStreams }),
  get('a subscription without events', '/notCounted'),
  get('a subscription with options of its stream', '/count?input=1', { settings: [...streamSettings] }),
  get('a slow subscription', '/countSlowly', { settings: ['pings', 'endsImmediately', 'endsInTime'] }),
  ...[
    '',
    '?lastEventId=4',
    '?lastEventId=',
    ...['%0A', '%0D', '%00'].map((each) => `?lastEventId=a${each}b`),
  ].map((query) =>
    get(`a subscription of tracked events after ${query}`, `/tracks${query}`, {
      settings: ['default', 'transformer'],
    }),
  ),
  get('a subscription that throws an AbortError', '/leaves'),
  get('a subscription whose error has no shape', `/failsAfterEvent?${inputQuery('shapeless')}`),
  get('an observable', '/observed?input=1'),
  get('an observable that fails', '/observed?input=%22fails%22'),
  get('a subscription whose input is broken', '/count?input=%7B'),
  post('a subscription by POST', '/count?lastEventId=3', '{"a":2}', {
    settings: ['default', 'methodOverride', 'metaObject'],
  }),
  get('a query after an event', '/echo?lastEventId=7&input={}'),
  get('a query of a lazy router', '/lazily.hello'),
  get('a path below a procedure', '/hello.more'),
  get('a name that every object inherits, below a router', '/deep.toString'),
  get('two slashes in front', '//hello'),
  get('an encoded slash', '/deep%2Fhello'),
  get('an input with a __proto__ member', '/echo?input=%7B%22__proto__%22%3A%7B%22a%22%3A1%7D%7D'),
  get('an input with a lone surrogate', '/echo?input=%22%5Cud800%22'),
  get('a missing input that is optional', '/optional'),
  post('a body that is only white space', '/write', '  '),
  post('a body that is not UTF-8', '/write', Buffer.from('{"name":"\u00ff"}', 'latin1')),
  ...['application/json;charset=latin1', 'application/vnd.api+json', '"'].map((type) =>
    post(`the content type ${type}`, '/write', '1', { headers: [['content-type', type]] }),
  ),
  post('a form without its boundary', '/upload', '--x--\r\n', {
    headers: [['content-type', 'multipart/form-data']],
  }),
  post('a form for a mutation of JSON', '/write', '--x--\r\n', { headers: multipart }),
  get('a batch whose inputs are not JSON', '/hello,echo?batch=1&input=%7B'),
  post('a batch of mutations with a query', '/touch,hello?batch=1', '{}'),
  get('a batch as large as allowed', '/hello,hello?batch=1', { settings: ['maxBatchSize'] }),
  get('a batch that is too large', '/hello,hello,hello?batch=1', { settings: ['maxBatchSize'] }),
  by('PUT', 'PUT without a content type', '/touch'),
  by('DELETE', 'DELETE of an unknown procedure', '/missing', { headers: json }),
  get('one call with Accept of lines', '/hello', { headers: acceptLines }),
  ...errorCodes.map((code) => get(`a ${code}`, `/throwCode?${inputQuery(code)}`)),
  ...['error', 'text', 'nothing'].map((what) => get(`a thrown ${what}`, `/throws?${inputQuery(what)}`)),
  get(
    'errors to which the formatter adds the input of their calls, in a batch',
    `/echo,throws,throws?batch=1&${inputQuery({ 0: 'first', 1: 'text', 2: 'error' })}`,
  ),
  get('a query whose context is forbidden', '/hello', { settings: ['contextForbids'] }),
  get('GET of a mutation whose context is forbidden', '/touch', { settings: ['contextForbids'] }),
  ...outputsAsLines,
];
