/*
 * Types of outputs, each with a value that a resolver returns, and a near miss. `outputs.test.ts` reads
 * the types from this file, and the answers from a gateway.
 */
import { initTRPC } from '@trpc/server';

/** `nearMiss` is JSON that a client must not take for the output. The type `Json` has none. */
interface Meta {
  readonly nearMiss: unknown;
}
// Without the warnings about outputs that JSON does not have.
const t = initTRPC.meta<Meta>().create({ isDev: false });

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
interface Callable {
  (): number;
  tag: string;
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

const always = <Value>(value: Value, nearMiss?: unknown) => t.procedure.meta({ nearMiss }).query(() => value);
const later = <Value>(value: Value, nearMiss?: unknown) =>
  t.procedure.meta({ nearMiss }).query(async () => value);

export const appRouter = t.router({
  string: always<string>('a', 1),
  number: always<number>(1.5, '1.5'),
  boolean: always<boolean>(true, 'true'),
  stringLiteral: always('a' as const, 'b'),
  numberLiteral: always(1 as const, 2),
  trueLiteral: always(true as const, false),
  null: always(null, 'null'),
  nullable: always<string | null>('a', 1),
  date: always(new Date(0), 0),
  nullableDate: always(new Date(0) as Date | null, false),
  datesInObject: later({ at: new Date(0), until: null as Date | null }, { at: null, until: null }),
  literals: always<Status>('sold', 'gone'),
  numberLiterals: always<1 | 2 | 3>(2, 4),
  mixedLiterals: always<number | 'auto'>('auto', 'manual'),
  numberEnum: always<Color>(1, 2),
  stringEnum: always('s' as unknown as Size, 'm'),
  mixedEnum: always('yes' as unknown as Mixed, 1),
  enumMember: always('l' as unknown as Size.Large, 's'),
  template: always<`pet-${number}`>('pet-1', 'pet-one'),
  templateOfTexts: always<`${string}/${string}`>('a/b', 'ab'),
  uppercase: always<Uppercase<string>>('A', 1),
  branded: always('a' as Id, { __brand: 'Id' }),
  brandedNumber: always(1 as Cents, '1'),
  object: always({ a: 1, b: 'b' }, { a: 1 }),
  optional: always<{ a: number; b?: string }>({ a: 1 }, { a: 1, b: 2 }),
  undefinedProperty: always<{ a: number; b: string | undefined }>({ a: 1, b: undefined }, { b: 'b' }),
  functions: always({ a: 1, run: () => 1, [Symbol('hidden')]: 1 }, { run: 1 }),
  interface: later<Pet>(
    { id: 1, name: 'Rex', status: 'sold', parent: { id: 2, name: 'Mum' } },
    { id: 1, name: 'Rex', parent: { id: 2 } },
  ),
  array: always([1, 2] as number[], [1, '2']),
  arrayOfObjects: later([{ id: 1, name: 'Rex' }] as Pet[], [{ id: 1 }]),
  arrayOfUnions: always([1, 'a'] as (number | string)[], [true]),
  arrayWithHoles: always([1, undefined] as (number | undefined)[], ['a']),
  tuple: always([1, 'a'] as [number, string], [1]),
  optionalElement: always([1] as [number, string?], [1, 2]),
  restElement: always([1, 'a', 'b'] as [number, ...string[]], [1, 2]),
  record: always<Record<string, number>>({ a: 1 }, { a: 'b' }),
  numberRecord: always<Record<number, string>>({ 1: 'a' }, { 1: 2 }),
  partialRecord: always<Partial<Record<Keys, number>>>({ one: 1 }, { one: 'a' }),
  fullRecord: always<Record<Keys, number>>({ one: 1, two: 2 }, { one: 1 }),
  recordWithProperties: always<{ total: number; [key: string]: number }>({ total: 1, a: 2 }, { a: 2 }),
  computedKey: always({ ['A'.toLowerCase()]: 1 }, { a: '1' }),
  spreadRecord: always({ ...({ a: 1 } as Record<string, number>) }, { a: '1' }),
  callable: always<{ a: number; run: Callable }>(
    { a: 1, run: Object.assign(() => 1, { tag: 'a' }) },
    { run: 1 },
  ),
  union: always<{ a: number } | { b: string }>({ a: 1 }, { a: 'b' }),
  discriminated: always<Shape>({ kind: 'square', side: 1 }, { kind: 'square', radius: 1 }),
  intersection: always<{ a: number } & { b: string }>({ a: 1, b: 'b' }, { a: 1 }),
  intersectionWithUnion: always<{ a: number } & Shape>(
    { a: 1, kind: 'circle', radius: 1 },
    { a: 1, kind: 'circle', side: 1 },
  ),
  pick: later<Pick<Pet, 'id'>>({ id: 1 }, { id: '1' }),
  mapped: always<Nullable<Named>>({ name: null }, {}),
  generic: later<Page<Pet>>(
    { items: [{ id: 1, name: 'Rex' }], next: null },
    { items: [{ id: 1 }], next: null },
  ),
  recursive: always<Tree>(
    { value: 1, children: [{ value: 2, children: [] }] },
    { value: 1, children: [{ value: 2 }] },
  ),
  mutuallyRecursive: always<Left>({ right: { left: {} } }, { right: {} }),
  json: always<Json>({ a: [1, null, { b: true }] }),
  prismaJson: always<{ data: PrismaJson }>({ data: [1, null, ['a'], { b: [true] }] }, {}),
  classThatExtendsArray: always(new Names('a'), { length: 0 }),
  interfaceThatExtendsArray: always<List<number>>([1], ['a']),
  arrayWithProperties: always<number[] & { count: number }>(Object.assign([1], { count: 1 }), { count: 1 }),
  intersectionWithToJson: always<Temperature & { scale: string }>(
    Object.assign(new Temperature(20), { scale: 'C' }),
    { scale: 'C' },
  ),
  functionWithProperties: always({ a: 1, run: Object.assign(() => 1, { tag: 'a' }) }, { run: 1 }),
  emptyTuple: always<{ items: readonly [] }>({ items: [] }, { items: [1] }),
  class: always(new Money(1), { doubled: 2 }),
  classWithToJson: always(new Temperature(20), { degrees: 20 }),
  buffer: always(Buffer.from('a'), [97]),
  url: always(new URL('http://127.0.0.1/'), { href: 'http://127.0.0.1/' }),
  inferredLater: t.procedure
    .meta({ nearMiss: { rows: [{ id: 1, posts: [{ id: 2 }] }] } })
    .query(async () => ({
      rows: [prismaRow].map(({ id, posts }) => ({ id, posts })),
    })),
  kysely: later<Selectable<AnimalTable>>(
    { id: 1, name: 'Rex', bornAt: new Date(0) },
    { id: { select: 1 }, name: 'Rex', bornAt: null },
  ),
  prisma: later<Payload<{ id: true; posts: true }>>(
    { id: 1, posts: prismaRow.posts },
    { id: 1, posts: [{ id: 2, title: 3 }] },
  ),
  maybe: always<Named | undefined>(undefined, {}),
  maybeThere: always<Named | undefined>({ name: 'a' }, null),
  nothing: t.procedure.meta({ nearMiss: null }).mutation(() => {}),
  nested: { deep: { er: always({ ok: true as const }, { ok: false }) } },
  inner: t.router({ one: always<number>(1, null) }),
});
