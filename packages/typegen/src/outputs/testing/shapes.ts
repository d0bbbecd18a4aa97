/*
 * Types of outputs, each with a value that a resolver returns, and JSON that is nearly what becomes of it. `outputs.test.ts` reads
 * the types from this file, and the answers from a gateway.
 */
import { initTRPC } from '@trpc/server';

// Without the warnings about outputs that JSON does not have.
const t = initTRPC.create({ isDev: false });

/** An animal. */
interface Pet {
  id: number;
  /** As its owner calls it. */
  name: string;
  status?: Status;
  parent?: Pet | null;
}
type Status = 'available' | 'pending' | 'sold';
declare enum Color {
  Red = 0,
  Green = 1,
}
declare enum Size {
  Small = 's',
  Large = 'l',
}
declare enum Mixed {
  No = 0,
  Yes = 'yes',
}
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
/** As in Prisma, whose values of columns of JSON are of this type. */
type PrismaJson = string | number | boolean | PrismaJsonObject | PrismaJsonArray | null;
type PrismaJsonObject = { [Key in string]?: PrismaJson };
interface PrismaJsonArray extends Array<PrismaJson> {}
class Names extends Array<string> {}
interface List<Item> extends ReadonlyArray<Item> {
  total?: number;
}
interface Tree {
  value: number;
  children: Tree[];
}
interface Left {
  right?: Right;
}
interface Right {
  left: Left | null;
}
type Id = string & { readonly __brand: 'Id' };
type Cents = number & { readonly __brand: unique symbol };
type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side: number };
interface Page<Item> {
  items: Item[];
  next: string | null;
}
class Money {
  readonly amount: number;
  readonly #secret = 1;
  constructor(amount: number) {
    this.amount = amount;
  }
  get doubled() {
    return 2 * this.amount * this.#secret;
  }
  add(other: Money) {
    return new Money(this.amount + other.amount);
  }
}
class Temperature {
  readonly #degrees: number;
  constructor(degrees: number) {
    this.#degrees = degrees;
  }
  toJSON() {
    return { celsius: this.#degrees };
  }
}
interface Named {
  name: string;
}
type Nullable<Value> = { [Key in keyof Value]: Value[Key] | null };
type Keys = 'one' | 'two';
/** A row as Kysely's `Selectable` and Drizzle's `$inferSelect` make it. */
type Selectable<Table> = {
  [Key in keyof Table]: Table[Key] extends { select: infer Value } ? Value : Table[Key];
};
interface AnimalTable {
  id: { select: number; insert: number | undefined };
  name: string;
  bornAt: { select: Date | null; insert: string };
}
/** As Prisma's `select` and `include` make it. */
type Payload<Args> = {
  [Key in keyof typeof prismaRow as Key extends keyof Args ? Key : never]: (typeof prismaRow)[Key];
};
const prismaRow = { id: 1, email: 'ada@example', posts: [{ id: 2, title: null as string | null }] };

const always = <Value>(value: Value) => t.procedure.query(() => value);
const later = <Value>(value: Value) => t.procedure.query(async () => value);

export const appRouter = t.router({
  string: always<string>('a'),
  number: always<number>(1.5),
  boolean: always<boolean>(true),
  stringLiteral: always('a' as const),
  numberLiteral: always(1 as const),
  trueLiteral: always(true as const),
  null: always(null),
  nullable: always<string | null>('a'),
  date: always(new Date(0)),
  nullableDate: always(new Date(0) as Date | null),
  datesInObject: later({ at: new Date(0), until: null as Date | null }),
  literals: always<Status>('sold'),
  numberLiterals: always<1 | 2 | 3>(2),
  mixedLiterals: always<number | 'auto'>('auto'),
  numberEnum: always<Color>(1),
  stringEnum: always('s' as unknown as Size),
  mixedEnum: always('yes' as unknown as Mixed),
  enumMember: always('l' as unknown as Size.Large),
  template: always<`pet-${number}`>('pet-1'),
  templateOfTexts: always<`${string}/${string}`>('a/b'),
  uppercase: always<Uppercase<string>>('A'),
  branded: always('a' as Id),
  brandedNumber: always(1 as Cents),
  object: always({ a: 1, b: 'b' }),
  optional: always<{ a: number; b?: string }>({ a: 1 }),
  undefinedProperty: always<{ a: number; b: string | undefined }>({ a: 1, b: undefined }),
  functions: always({ a: 1, run: () => 1, [Symbol('hidden')]: 1 }),
  readonlyObject: always<Readonly<{ a: number }>>({ a: 1 }),
  interface: later<Pet>({ id: 1, name: 'Rex', status: 'sold', parent: { id: 2, name: 'Mum' } }),
  array: always([1, 2] as number[]),
  readonlyArray: always(['a'] as readonly string[]),
  arrayOfObjects: later([{ id: 1, name: 'Rex' }] as Pet[]),
  arrayOfUnions: always([1, 'a'] as (number | string)[]),
  arrayWithHoles: always([1, undefined] as (number | undefined)[]),
  nestedArrays: always([[1], []] as number[][]),
  tuple: always([1, 'a'] as [number, string]),
  optionalElement: always([1] as [number, string?]),
  restElement: always([1, 'a', 'b'] as [number, ...string[]]),
  namedTuple: always([1, 2] as [x: number, y: number]),
  record: always<Record<string, number>>({ a: 1 }),
  numberRecord: always<Record<number, string>>({ 1: 'a' }),
  partialRecord: always<Partial<Record<Keys, number>>>({ one: 1 }),
  fullRecord: always<Record<Keys, number>>({ one: 1, two: 2 }),
  recordWithProperties: always<{ total: number; [key: string]: number }>({ total: 1, a: 2 }),
  union: always<{ a: number } | { b: string }>({ a: 1 }),
  discriminated: always<Shape>({ kind: 'square', side: 1 }),
  intersection: always<{ a: number } & { b: string }>({ a: 1, b: 'b' }),
  intersectionWithUnion: always<{ a: number } & Shape>({ a: 1, kind: 'circle', radius: 1 }),
  pick: later<Pick<Pet, 'id'>>({ id: 1 }),
  omit: later<Omit<Pet, 'parent' | 'status'>>({ id: 1, name: 'Rex' }),
  partial: always<Partial<Named>>({}),
  required: always<Required<{ a?: number }>>({ a: 1 }),
  mapped: always<Nullable<Named>>({ name: null }),
  conditional: always<NonNullable<string | null | undefined>>('a'),
  awaited: always<Awaited<Promise<number>>>(1),
  generic: later<Page<Pet>>({ items: [{ id: 1, name: 'Rex' }], next: null }),
  genericOfInline: later<Page<number>>({ items: [1], next: 'a' }),
  recursive: always<Tree>({ value: 1, children: [{ value: 2, children: [] }] }),
  mutuallyRecursive: always<Left>({ right: { left: {} } }),
  json: always<Json>({ a: [1, null, { b: true }] }),
  prismaJson: always<{ data: PrismaJson }>({ data: [1, null, ['a'], { b: [true] }] }),
  classThatExtendsArray: always(new Names('a')),
  interfaceThatExtendsArray: always<List<number>>([1]),
  arrayWithProperties: always<number[] & { count: number }>(Object.assign([1], { count: 1 })),
  intersectionWithToJson: always<Temperature & { scale: string }>(
    Object.assign(new Temperature(20), { scale: 'C' }),
  ),
  functionWithProperties: always({ a: 1, run: Object.assign(() => 1, { tag: 'a' }) }),
  emptyTuple: always<{ items: readonly [] }>({ items: [] }),
  class: always(new Money(1)),
  classWithToJson: always(new Temperature(20)),
  buffer: always(Buffer.from('a')),
  url: always(new URL('http://127.0.0.1/')),
  inferredLater: t.procedure.query(async () => ({
    rows: [prismaRow].map(({ id, posts }) => ({ id, posts })),
  })),
  kysely: later<Selectable<AnimalTable>>({ id: 1, name: 'Rex', bornAt: new Date(0) }),
  prisma: later<Payload<{ id: true; posts: true }>>({ id: 1, posts: prismaRow.posts }),
  thrown: t.procedure.query((): Named => ({ name: 'a' })),
  maybe: always<Named | undefined>(undefined),
  maybeThere: always<Named | undefined>({ name: 'a' }),
  nothing: t.procedure.mutation(() => {}),
  nested: { deep: { er: always({ ok: true as const }) } },
  inner: t.router({ one: always<number>(1) }),
});

/** By path: JSON that a client must not take for the output. The type `Json` has none. */
export const nearMisses: Readonly<Record<string, unknown>> = {
  string: 1,
  number: '1.5',
  boolean: 'true',
  stringLiteral: 'b',
  numberLiteral: 2,
  trueLiteral: false,
  null: 'null',
  nullable: 1,
  date: 0,
  nullableDate: false,
  datesInObject: { at: null, until: null },
  literals: 'gone',
  numberLiterals: 4,
  mixedLiterals: 'manual',
  numberEnum: 2,
  stringEnum: 'm',
  mixedEnum: 1,
  enumMember: 's',
  template: 'pet-one',
  templateOfTexts: 'ab',
  uppercase: 1,
  branded: { __brand: 'Id' },
  brandedNumber: '1',
  object: { a: 1 },
  optional: { a: 1, b: 2 },
  undefinedProperty: { b: 'b' },
  functions: { run: 1 },
  readonlyObject: {},
  interface: { id: 1, name: 'Rex', parent: { id: 2 } },
  array: [1, '2'],
  readonlyArray: 'a',
  arrayOfObjects: [{ id: 1 }],
  arrayOfUnions: [true],
  arrayWithHoles: ['a'],
  nestedArrays: [1],
  tuple: [1],
  optionalElement: [1, 2],
  restElement: [1, 2],
  namedTuple: [1, 2, 3],
  record: { a: 'b' },
  numberRecord: { 1: 2 },
  partialRecord: { one: 'a' },
  fullRecord: { one: 1 },
  recordWithProperties: { a: 2 },
  union: { a: 'b' },
  discriminated: { kind: 'square', radius: 1 },
  intersection: { a: 1 },
  intersectionWithUnion: { a: 1, kind: 'circle', side: 1 },
  pick: { id: '1' },
  omit: { id: 1 },
  partial: { name: 1 },
  required: {},
  mapped: {},
  conditional: null,
  awaited: {},
  generic: { items: [{ id: 1 }], next: null },
  genericOfInline: { items: ['a'], next: null },
  recursive: { value: 1, children: [{ value: 2 }] },
  mutuallyRecursive: { right: {} },
  prismaJson: {},
  classThatExtendsArray: { length: 0 },
  interfaceThatExtendsArray: ['a'],
  arrayWithProperties: { count: 1 },
  intersectionWithToJson: { scale: 'C' },
  functionWithProperties: { run: 1 },
  emptyTuple: { items: [1] },
  class: { doubled: 2 },
  classWithToJson: { degrees: 20 },
  buffer: [97],
  url: { href: 'http://127.0.0.1/' },
  inferredLater: { rows: [{ id: 1, posts: [{ id: 2 }] }] },
  kysely: { id: { select: 1 }, name: 'Rex', bornAt: null },
  prisma: { id: 1, posts: [{ id: 2, title: 3 }] },
  thrown: {},
  maybe: {},
  maybeThere: null,
  nothing: null,
  'nested.deep.er': { ok: false },
  'inner.one': null,
};
