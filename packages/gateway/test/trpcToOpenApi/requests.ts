import fc from 'fast-check';
import type { z } from 'zod';
import type { Shape } from './shapes.ts';

/** A request as its bytes are sent. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** What is unusual about it. */
  readonly twist: Twist;
}

type Json = string | number | boolean | null | undefined | object;

const oneOf = (...values: readonly Json[]) => fc.constantFrom(...values);
/** Chooses the first one three times out of four. */
const mostly = (usual: fc.Arbitrary<Json>, other: fc.Arbitrary<Json>) =>
  fc.oneof({ arbitrary: usual, weight: 3 }, { arbitrary: other, weight: 1 });

const anything = oneOf(null, true, 0, 5.5, '', 'x', '5', ['5'], [1, 'a'], {}, { a: 1, b: { c: [null] } });
const wrong = {
  string: oneOf(5, true, null, ['x'], {}, ''),
  number: oneOf('5', ' 5 ', '', 'x', '1e3', '+5', '0x1f', true, null, ['5'], {}, -1, 1e21),
  boolean: oneOf('true', 'false', 'TRUE', '0', '1', '', 'yes', 0, 1, null, [], {}),
  bigint: oneOf('x', '', 5.5, true, null, [], '5.0', ' 7 '),
  date: oneOf('2026-01-02', '2026-01-02T03:04:05', 'x', '', '5', 0, 1e12, true, null, [], {}),
} as const;
const formats: Readonly<Record<string, Json>> = {
  cuid2: 'tz4a98xxat96iws9zmbrgj3a',
  email: 'Ada@desk.example',
  url: 'https://a.example/b?c=d',
  ipv4: '10.0.0.1',
};

/** Generates JSON for a schema: most of it valid. `undefined` is left out. */
function valueOf(schema: z.core.$ZodType, depth = 0): fc.Arbitrary<Json> {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  const of = (inner: z.core.$ZodType) => valueOf(inner, depth + 1);
  switch (def.type) {
    case 'string': {
      const { format } = def as { readonly format?: string };
      const valid = formats[format ?? ''];
      return mostly(
        valid === undefined
          ? oneOf('abc', 'a b', 'ü/é', 'true', '5', 'some-name', 'x'.repeat(101))
          : oneOf(valid),
        wrong.string,
      );
    }
    case 'number':
      return mostly(oneOf(5, 1, 20, 5.5, 0), wrong.number);
    case 'boolean':
      return mostly(oneOf(true, false), wrong.boolean);
    case 'bigint':
      return mostly(oneOf('5', 7, '12345678901234567890'), wrong.bigint);
    case 'date':
      return mostly(oneOf('2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05+01:00'), wrong.date);
    case 'enum':
      return mostly(oneOf(...Object.values(def.entries)), oneOf('other', '', null, 1));
    case 'literal':
      return mostly(oneOf(...(def.values as Json[])), oneOf('other', 5, null));
    case 'array':
      // A schema may contain itself.
      if (depth > 4) return fc.constant([]);
      return mostly(fc.array(of(def.element), { maxLength: 3 }), oneOf('abc', null, {}, 5, ['', 'b']));
    case 'object':
      return mostly(
        fc
          .record(Object.fromEntries(Object.entries(def.shape).map(([name, each]) => [name, of(each)])))
          .chain((value) => fc.constantFrom(value, value, value, { ...value, unknown: 'x', more: [1] })),
        depth === 0 ? fc.constant({}) : oneOf({}, null, 'x', []),
      );
    case 'record':
      return mostly(fc.dictionary(fc.constantFrom('a', 'b'), of(def.valueType)), oneOf(null, [], 'x'));
    case 'union':
      return fc.oneof(...def.options.map(of), anything);
    case 'intersection':
      return fc.tuple(of(def.left), of(def.right)).map((sides) => Object.assign({}, ...sides) as object);
    case 'optional':
    case 'default':
    case 'prefault':
      return mostly(of(def.innerType), oneOf(undefined, undefined, null, ''));
    case 'nullable':
      return mostly(of(def.innerType), fc.constant(null));
    case 'readonly':
    case 'catch':
      return of(def.innerType);
    case 'lazy':
      return of(def.getter());
    case 'pipe':
      return of(def.in._zod.def.type === 'transform' ? def.out : def.in);
    case 'void':
      return fc.constant({});
    default:
      return anything;
  }
}

const twists = [
  'slash',
  'case',
  'otherMethod',
  'head',
  'options',
  'noBody',
  'malformedJson',
  'jsonText',
  'jsonList',
  'noType',
  'otherType',
  'typeCase',
  'encoded',
  'malformedPath',
  'malformedQuery',
  'emptyQuery',
  'repeated',
  'rounded',
  'unknownPath',
  'largeBody',
  'queryOfBody',
  'signedOut',
] as const;
type Twist = (typeof twists)[number] | 'none';

/** Generates requests of a procedure, most of them valid, and half of the rest with something unusual. */
export function requestsOf(shape: Shape): fc.Arbitrary<Sent> {
  const values = fc
    .tuple(...shape.inputs.map((input) => valueOf(input)))
    .map((inputs) => Object.assign({}, ...inputs.filter((each) => typeof each === 'object')) as object);
  const twist = fc.oneof(
    { arbitrary: fc.constant<Twist>('none'), weight: 3 },
    { arbitrary: fc.constantFrom<Twist>(...twists), weight: 2 },
  );
  return fc.tuple(values, twist).map(([input, each]) => requestOf(shape, input, each));
}

const bodyless = new Set(['GET', 'DELETE']);

function requestOf({ openapi, isProtected }: Shape, input: object, twist: Twist): Sent {
  const rest = new Map(Object.entries(input));
  let path = openapi.path.replaceAll(/\{(.*?)\}/g, (_, name: string) => {
    const value = rest.get(name) as Json;
    rest.delete(name);
    return pathText(value, twist);
  });
  const hasBody = !bodyless.has(openapi.method);
  if (twist === 'slash') path += '/';
  if (twist === 'case') path = path.toUpperCase();
  if (twist === 'unknownPath') path += '/unknown';
  const pairs = hasBody && twist !== 'queryOfBody' ? [] : queryOf(rest, twist);
  if (twist === 'emptyQuery') pairs.push('', 'empty', '=1', '');
  if (twist === 'malformedQuery') pairs.push('text=%zz', '%ff=1', 'other=%', 'doubled=%EF%BB%BFa');
  const method = methodOf(openapi.method, twist);
  const headers: Record<string, string> = {};
  if (isProtected && twist !== 'signedOut') headers['authorization'] = 'Bearer ada';
  // `fetch` sends no body with HEAD.
  const body = hasBody && method !== 'HEAD' ? bodyOf(Object.fromEntries(rest), twist) : undefined;
  if (hasBody && twist !== 'noType') headers['content-type'] = typeOf(twist);
  return { method, target: `${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`, headers, body, twist };
}

function pathText(value: Json, twist: Twist): string {
  if (twist === 'encoded') return 'a%20b%2Fc';
  if (twist === 'malformedPath') return 'a%zz';
  const text = typeof value === 'object' ? 'x' : String(value ?? 'x');
  // A segment of a URL that needs no percent-encoding.
  return text.replaceAll(/[^\w.,+-]/g, '') || 'x';
}

function queryOf(values: ReadonlyMap<string, Json>, twist: Twist): string[] {
  return [...values].flatMap(([name, value]) => {
    if (value === undefined) return [];
    const texts = [value].flat().map((each) => (typeof each === 'object' ? '' : String(each)));
    const sent = twist === 'repeated' ? texts.concat(texts) : texts;
    return sent.map((text) => `${name}=${encodeURIComponent(text)}`);
  });
}

function methodOf(method: string, twist: Twist): string {
  if (twist === 'otherMethod') return method === 'PUT' ? 'DELETE' : 'PUT';
  return twist === 'head' ? 'HEAD' : twist === 'options' ? 'OPTIONS' : method;
}

function bodyOf(value: object, twist: Twist): string | undefined {
  if (twist === 'noBody') return undefined;
  if (twist === 'malformedJson') return '{"name":';
  if (twist === 'jsonText') return '"text"';
  if (twist === 'jsonList') return '["5"]';
  if (twist === 'largeBody') return JSON.stringify({ ...value, name: 'x'.repeat(120_000) });
  const text = JSON.stringify(value);
  // An integer that a double cannot represent.
  return twist === 'rounded' ? text.replaceAll(/:(?:5|20)\b/g, ':9007199254740993') : text;
}

const typeOf = (twist: Twist) =>
  twist === 'otherType'
    ? 'text/plain'
    : twist === 'typeCase'
      ? 'Application/JSON'
      : 'application/json; charset=utf-8';
