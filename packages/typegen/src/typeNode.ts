/** A TypeScript type, as far as schemas have need of it. */
export type TypeNode =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  /** `{ [key: string]: … }`, which has numbers for keys too, other than a mapped type over `string`. */
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
  | { readonly kind: 'function'; readonly arguments: TypeNode; readonly result: TypeNode }
  | { readonly kind: 'stated'; readonly text: string }
  | { readonly kind: 'reference'; readonly to: Alias };

/** A field of an object type, with what is said of it. */
export interface Member {
  readonly name: string;
  readonly type: TypeNode;
  readonly optional: boolean;
  readonly readonly?: boolean;
  readonly comment?: Comment | undefined;
}

/** What a doc comment says. */
export interface Comment {
  readonly text?: string | undefined;
  /** `true`, or why and what to use instead. */
  readonly deprecated?: boolean | string | undefined;
}

/** A type that has a name, and that may stand in its own body. */
export interface Alias {
  readonly name: () => string;
  /** Whether it is an object type for sure, whatever its body will be. */
  readonly isObject: boolean;
  /** `undefined` while it is being made. */
  readonly body: () => TypeNode | undefined;
}

export const word = (text: string): TypeNode => ({ kind: 'word', text });
export const generic = (name: string, ...types: readonly TypeNode[]): TypeNode => ({
  kind: 'generic',
  name,
  arguments: types,
});

export const unknownType: TypeNode = word('unknown');
export const undefinedType: TypeNode = word('undefined');
export const neverType: TypeNode = word('never');

const isWord = (node: TypeNode, text: string) => node.kind === 'word' && node.text === text;

/** The union of types, without those that it contains anyway. */
export function union(...types: readonly TypeNode[]): TypeNode {
  const all = types.flatMap((type) => (type.kind === 'union' ? type.members : [type]));
  // These swallow all else; TypeScript would say so too, but not as legibly.
  for (const wide of ['any', 'unknown']) if (all.some((member) => isWord(member, wide))) return word(wide);
  const members: TypeNode[] = [];
  for (const member of all) {
    const isThere =
      isWord(member, 'never') ||
      (member.kind === 'word' && members.some((other) => isWord(other, member.text)));
    if (!isThere) members.push(member);
  }
  const [first = neverType] = members;
  return members.length > 1 ? { kind: 'union', members } : first;
}

/** The type without `undefined`. */
export function withoutUndefined(type: TypeNode): TypeNode {
  switch (type.kind) {
    case 'word':
      return type.text === 'undefined' ? neverType : type;
    case 'union':
      return union(...type.members.map(withoutUndefined));
    case 'reference': {
      if (type.to.isObject) return type;
      const body = type.to.body();
      if (body === undefined) return generic('Exclude', type, undefinedType);
      const rest = withoutUndefined(body);
      return rest === body || (body.kind === 'union' && sameMembers(body, rest)) ? type : rest;
    }
    case 'intersection':
    case 'stated':
      return generic('Exclude', type, undefinedType);
    default:
      return type;
  }
}

function sameMembers(one: TypeNode & { readonly kind: 'union' }, other: TypeNode): boolean {
  return (
    other.kind === 'union' &&
    one.members.length === other.members.length &&
    one.members.every((member, at) => member === other.members[at])
  );
}

/** zod's `MakeReadonly` of a type; `undefined` where that cannot be printed. */
export function asReadonly(type: TypeNode): TypeNode | undefined {
  switch (type.kind) {
    case 'word':
      return type.text === 'any' ? undefined : isWord(type, 'unknown') ? generic('Readonly', type) : type;
    case 'object':
      return { ...type, members: type.members.map((member) => ({ ...member, readonly: true })) };
    case 'mapped':
    case 'index':
    case 'array':
      return { ...type, readonly: true };
    case 'tuple':
      // zod tells tuples by their first item; one that may be left out makes an array of it.
      return type.items.length > 0 && !type.items[0]?.optional
        ? { ...type, readonly: true }
        : type.items.length === 0 && type.rest !== undefined
          ? { kind: 'array', element: type.rest, readonly: true }
          : undefined;
    case 'union': {
      const members = type.members.map(asReadonly);
      return members.includes(undefined) ? undefined : union(...members.filter((each) => each !== undefined));
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
    case 'function':
      return type;
    case 'intersection':
      return type.members.every(isObject) ? generic('Readonly', type) : undefined;
    case 'stated':
      return undefined;
    default:
      return type satisfies never;
  }
}

/** Whether it is an object that is neither an array nor one of a class. */
function isObject(type: TypeNode): boolean {
  switch (type.kind) {
    case 'object':
    case 'mapped':
    case 'index':
      return true;
    case 'generic':
      return type.name === 'Simplify' || (type.name === 'Readonly' && type.arguments.every(isObject));
    case 'intersection':
      return type.members.every(isObject);
    case 'reference': {
      const body = type.to.body();
      return body !== undefined && isObject(body);
    }
    default:
      return false;
  }
}

/** Whether a type, or one that it is made of, is such a one. */
export function contains(
  type: TypeNode,
  isSuch: (part: TypeNode) => boolean,
  seen: ReadonlySet<Alias> = new Set(),
): boolean {
  if (isSuch(type)) return true;
  if (type.kind === 'reference') {
    const body = type.to.body();
    return body !== undefined && !seen.has(type.to) && contains(body, isSuch, new Set([...seen, type.to]));
  }
  return partsOf(type).some((part) => contains(part, isSuch, seen));
}

function partsOf(type: TypeNode): readonly TypeNode[] {
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
