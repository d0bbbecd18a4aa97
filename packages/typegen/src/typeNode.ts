/** The syntax tree of a TypeScript type. It supports the types that schemas need. */
export type TypeNode =
  | { readonly kind: 'token'; readonly text: string }
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  /** `{ [key: string]: … }`. Unlike a mapped type over `string`, its `keyof` includes `number`. */
  | { readonly kind: 'index'; readonly value: TypeNode; readonly readonly?: boolean }
  | {
      readonly kind: 'mapped';
      readonly key: TypeNode;
      readonly value: TypeNode;
      readonly optional: boolean;
      readonly readonly?: boolean;
    }
  | { readonly kind: 'array'; readonly element: TypeNode; readonly readonly?: boolean }
  | {
      readonly kind: 'tuple';
      readonly items: readonly { readonly type: TypeNode; readonly optional: boolean }[];
      readonly rest?: TypeNode | undefined;
      readonly readonly?: boolean;
    }
  | { readonly kind: 'union'; readonly members: readonly TypeNode[] }
  | { readonly kind: 'intersection'; readonly members: readonly TypeNode[] }
  | { readonly kind: 'generic'; readonly name: string; readonly arguments: readonly TypeNode[] }
  | { readonly kind: 'template'; readonly parts: readonly (string | TypeNode)[] }
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'reference'; readonly to: Alias };

/** A field of an object type. */
export interface Member {
  readonly name: string;
  readonly type: TypeNode;
  readonly optional: boolean;
  readonly readonly?: boolean;
  readonly comment?: Comment | undefined;
}

/** The content of a doc comment. */
export interface Comment {
  readonly text?: string | undefined;
  /** `true`, or a text with the reason and the replacement. */
  readonly deprecated?: boolean | string | undefined;
}

/** A named type, which may be recursive. */
export interface Alias {
  readonly name: () => string;
  /** Whether the type is certainly an object type, whatever its body. */
  readonly isObjectType: boolean;
  /** Returns the body; `undefined` while the type is being converted. */
  readonly body: () => TypeNode | undefined;
}

export const typeToken = (text: string): TypeNode => ({ kind: 'token', text });
export const generic = (name: string, ...types: readonly TypeNode[]): TypeNode => ({
  kind: 'generic',
  name,
  arguments: types,
});

export const unknownType: TypeNode = typeToken('unknown');
export const undefinedType: TypeNode = typeToken('undefined');
export const neverType: TypeNode = typeToken('never');

const isToken = (node: TypeNode, text: string) => node.kind === 'token' && node.text === text;

/** Returns the union of types without duplicates. */
export function unionOf(...types: readonly TypeNode[]): TypeNode {
  const all = types.flatMap((type) => (type.kind === 'union' ? type.members : [type]));
  // `any` and `unknown` absorb all other members.
  for (const wide of ['any', 'unknown'])
    if (all.some((member) => isToken(member, wide))) return typeToken(wide);
  const members: TypeNode[] = [];
  for (const member of all) {
    const isDuplicate =
      isToken(member, 'never') ||
      (member.kind === 'token' && members.some((other) => isToken(other, member.text)));
    if (!isDuplicate) members.push(member);
  }
  const [first = neverType] = members;
  return members.length > 1 ? { kind: 'union', members } : first;
}

export function excludeUndefined(type: TypeNode): TypeNode {
  switch (type.kind) {
    case 'token':
      return type.text === 'undefined' ? neverType : type;
    case 'union':
      return unionOf(...type.members.map(excludeUndefined));
    case 'reference': {
      if (type.to.isObjectType) return type;
      const body = type.to.body();
      if (body === undefined) return generic('Exclude', type, undefinedType);
      const rest = excludeUndefined(body);
      return rest === body || (body.kind === 'union' && haveSameMembers(body, rest)) ? type : rest;
    }
    case 'intersection':
    case 'raw':
      return generic('Exclude', type, undefinedType);
    default:
      return type;
  }
}

function haveSameMembers(one: TypeNode & { readonly kind: 'union' }, other: TypeNode): boolean {
  return (
    other.kind === 'union' &&
    one.members.length === other.members.length &&
    one.members.every((member, at) => member === other.members[at])
  );
}

/** Applies zod's `MakeReadonly` to a type; `undefined` if the result cannot be printed. */
export function asReadonly(type: TypeNode): TypeNode | undefined {
  switch (type.kind) {
    case 'token':
      return type.text === 'any' ? undefined : isToken(type, 'unknown') ? generic('Readonly', type) : type;
    case 'object':
      return { ...type, members: type.members.map((member) => ({ ...member, readonly: true })) };
    case 'mapped':
    case 'index':
    case 'array':
      return { ...type, readonly: true };
    case 'tuple':
      // zod recognizes tuples by their first item. A tuple with an optional first item becomes an array.
      return type.items.length > 0 && !type.items[0]?.optional
        ? { ...type, readonly: true }
        : type.items.length === 0 && type.rest !== undefined
          ? { kind: 'array', element: type.rest, readonly: true }
          : undefined;
    case 'union': {
      const members = type.members.map(asReadonly);
      return members.includes(undefined)
        ? undefined
        : unionOf(...members.filter((each) => each !== undefined));
    }
    case 'generic': {
      const name = { Map: 'ReadonlyMap', Set: 'ReadonlySet' }[type.name];
      if (name !== undefined) return { ...type, name };
      if (type.name === 'Simplify') return generic('Readonly', type);
      return type.name === 'Promise' ? type : undefined;
    }
    case 'reference': {
      const body = type.to.body();
      if (body === undefined) return undefined;
      if (['object', 'index', 'mapped'].includes(body.kind)) return generic('Readonly', type);
      return asReadonly(body);
    }
    case 'template':
      return type;
    case 'intersection':
      return type.members.every(isObjectType) ? generic('Readonly', type) : undefined;
    case 'raw':
      return undefined;
    default:
      return type satisfies never;
  }
}

/** Returns true for object types other than arrays and class instances. */
function isObjectType(type: TypeNode): boolean {
  switch (type.kind) {
    case 'object':
    case 'mapped':
    case 'index':
      return true;
    case 'generic':
      return type.name === 'Simplify' || (type.name === 'Readonly' && type.arguments.every(isObjectType));
    case 'intersection':
      return type.members.every(isObjectType);
    case 'reference': {
      const body = type.to.body();
      return body !== undefined && isObjectType(body);
    }
    default:
      return false;
  }
}

/** Returns true if a type or one of its parts matches a predicate. */
export function contains(
  type: TypeNode,
  matches: (part: TypeNode) => boolean,
  seen: ReadonlySet<Alias> = new Set(),
): boolean {
  if (matches(type)) return true;
  if (type.kind === 'reference') {
    const body = type.to.body();
    return body !== undefined && !seen.has(type.to) && contains(body, matches, new Set([...seen, type.to]));
  }
  return childrenOf(type).some((part) => contains(part, matches, seen));
}

function childrenOf(type: TypeNode): readonly TypeNode[] {
  switch (type.kind) {
    case 'object':
      return type.members.map((member) => member.type);
    case 'index':
      return [type.value];
    case 'mapped':
      return [type.key, type.value];
    case 'array':
      return [type.element];
    case 'tuple':
      return [...type.items.map((item) => item.type), ...(type.rest ? [type.rest] : [])];
    case 'union':
    case 'intersection':
      return type.members;
    case 'generic':
      return type.arguments;
    default:
      return [];
  }
}
