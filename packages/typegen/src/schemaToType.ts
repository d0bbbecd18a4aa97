import { enumValues, literalType } from './literalType.ts';
import type { Names } from './names.ts';
import { isOptional, type Side } from './optionality.ts';
import type { Place } from './place.ts';
import { schemaComment } from './schemaComment.ts';
import {
  asReadonly,
  generic,
  neverType,
  undefinedType,
  union,
  unknownType,
  withoutUndefined,
  word,
  type Member,
  type TypeNode,
} from './typeNode.ts';
import { TypegenError } from './typegenError.ts';
import {
  classOf,
  definitionOf,
  isExactOptional,
  isPreprocess,
  lazyTarget,
  metadataOf,
  type Definition,
  type Schema,
} from './zodDefinition.ts';

export interface TypeOptions {
  readonly names: Names;
  /**
   * Whether outputs go through JSON, which has no `undefined`: an optional field of an output is absent, then, and its
   * type says so, which lets tRPC's `Serialize` leave the named type as it is.
   */
  readonly isJson: boolean;
  /**
   * The schemas that keep their `undefined` nevertheless, with all their parts: what `Serialize` makes of intersections,
   * index signatures and readonly arrays depends on whether all around them is JSON, and so on the client's
   * `exactOptionalPropertyTypes`. Making a type adds to them: make all types again until there are no more.
   */
  readonly verbatim: Set<Schema>;
}

type Kind<Type extends Definition['type']> = Extract<Definition, { readonly type: Type }>;

/**
 * The type that `z.input` or `z.output` infers, of any zod 4 schema. Types that leave no trace at run time are printed
 * as what they stand for: a brand as the type it brands, a TypeScript enum as its values.
 * @throws {TypegenError} where the type cannot be known at run time, unless the schema's metadata states it
 */
export function schemaToType(schema: Schema, place: Place, options: TypeOptions): TypeNode {
  if (place.isVerbatim) options.verbatim.add(schema);
  const isVerbatim = options.verbatim.has(schema);
  return options.names.alias(schema, place, () =>
    definitionToType(schema, { ...place, isVerbatim }, options),
  );
}

function definitionToType(schema: Schema, place: Place, options: TypeOptions): TypeNode {
  const { typescript } = metadataOf(schema);
  if (typescript !== undefined) return { kind: 'stated', text: typescript };
  const definition = definitionOf(schema);
  const { side } = place;
  const isInput = side === 'input';
  const toType: ToType = (inner, step = '') =>
    schemaToType(inner, { ...place, path: `${place.path}${step}` }, options);
  switch (definition.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return isInput && definition.coerce ? unknownType : word(definition.type);
    case 'date':
      return isInput && definition.coerce ? unknownType : word('Date');
    case 'nan':
      return word('number');
    case 'symbol':
    case 'undefined':
    case 'null':
    case 'any':
    case 'unknown':
    case 'never':
    case 'void':
      return word(definition.type);
    case 'file':
      return word('File');
    case 'literal':
      return union(...definition.values.map((value) => literalType(value)));
    case 'enum':
      return union(...enumValues(definition.entries).map((value) => literalType(value)));
    case 'template_literal':
      return {
        kind: 'template',
        parts: definition.parts.map((part) =>
          isSchema(part) ? templatePart(toType(part, '${}')) : String(part ?? (part === null ? null : '')),
        ),
      };
    case 'array':
      return { kind: 'array', element: toType(definition.element, '[]') };
    case 'set':
      return generic('Set', toType(definition.valueType, '[]'));
    case 'map':
      return generic('Map', toType(definition.keyType, '.key'), toType(definition.valueType, '[]'));
    case 'tuple':
      return tupleToType(definition, side, toType);
    case 'object':
      return objectToType(definition, place, options, toType);
    case 'record':
      return recordToType(definition, side, toType);
    case 'union':
      return union(...definition.options.map((option) => toType(option)));
    case 'intersection':
      return {
        kind: 'intersection',
        members: [toType(definition.left), toType(definition.right)],
      };
    case 'optional':
      return isExactOptional(schema)
        ? toType(definition.innerType)
        : union(toType(definition.innerType), undefinedType);
    case 'nullable':
      return union(toType(definition.innerType), word('null'));
    case 'default':
      return isInput
        ? union(toType(definition.innerType), undefinedType)
        : withoutUndefined(toType(definition.innerType));
    case 'prefault':
      return isInput ? union(toType(definition.innerType), undefinedType) : toType(definition.innerType);
    case 'nonoptional':
      return withoutUndefined(toType(definition.innerType));
    case 'success':
      return isInput ? toType(definition.innerType) : word('boolean');
    case 'catch':
      return toType(definition.innerType);
    case 'readonly':
      return (
        asReadonly(toType(definition.innerType)) ??
        refuse(place, 'there is no name for what .readonly() makes of it', 'Leave .readonly() out')
      );
    case 'lazy':
      return toType(lazyTarget(schema));
    case 'pipe':
      if (!isInput) return toType(definition.out);
      return isPreprocess(schema) ? unknownType : toType(definition.in);
    case 'promise': {
      const promise = generic('Promise', toType(definition.innerType));
      return isInput ? union(toType(definition.innerType), promise) : promise;
    }
    case 'function':
      return functionToType(definition, place, options);
    case 'transform':
      return refuse(
        place,
        'what a transform gives is not known at run time',
        'Say it: .pipe(schema) after it',
      );
    case 'custom':
      return customToType(schema, place);
    default:
      return refuse(
        place,
        `the kind ${(definition satisfies never as Definition).type} is not known to this version of the gateway`,
      );
  }
}

type ToType = (inner: Schema, step?: string) => TypeNode;

function objectToType(
  { shape, catchall }: Kind<'object'>,
  { side, isVerbatim = false }: Place,
  { isJson }: TypeOptions,
  toType: ToType,
): TypeNode {
  const rest = catchall && definitionOf(catchall).type !== 'never' ? toType(catchall, '[]') : undefined;
  const members = Object.entries(shape).map(([name, field]): Member => ({
    name,
    optional: isOptional(field, side),
    type: toType(field, `.${name}`),
    comment: schemaComment(field),
  }));
  if (rest === undefined) {
    if (members.length === 0) return record(word('string'), word('never'));
    const isStripped = isJson && side === 'output' && !isVerbatim;
    return { kind: 'object', members: isStripped ? members.map(stripped) : members };
  }
  const isLoose = catchall !== undefined && definitionOf(catchall).type === 'unknown';
  const others: TypeNode = isLoose ? record(word('string'), rest) : { kind: 'index', value: rest };
  // Fields need not fit the others' type: no literal type says that.
  return members.length === 0
    ? others
    : generic('Simplify', { kind: 'intersection', members: [{ kind: 'object', members }, others] });
}

function stripped(member: Member): Member {
  const type = withoutUndefined(member.type);
  return member.optional && type !== neverType ? { ...member, type } : member;
}

const record = (key: TypeNode, value: TypeNode): TypeNode => ({
  kind: 'mapped',
  key,
  value,
  optional: false,
});

function tupleToType({ items, rest }: Kind<'tuple'>, side: Side, toType: ToType): TypeNode {
  const lastRequired = items.findLastIndex((item) => !isOptional(item, side));
  return {
    kind: 'tuple',
    items: items.map((item, at) => ({ type: toType(item, `[${at}]`), optional: at > lastRequired })),
    rest: rest ? toType(rest, '[]') : undefined,
  };
}

function recordToType({ keyType, valueType, partial }: Kind<'record'>, side: Side, toType: ToType): TypeNode {
  const key = toType(keyType, '.key');
  const value = toType(valueType, '[]');
  // A type that mentions itself so is written by hand: with an index signature, as zod's own of z.json() is.
  const isRecursive = value.kind === 'reference' && value.to.body() === undefined;
  if (isRecursive && definitionOf(valueType).type === 'lazy' && definitionOf(keyType).type === 'string') {
    return { kind: 'index', value };
  }
  return {
    kind: 'mapped',
    key:
      side === 'output' || isPropertyKey(keyType)
        ? key
        : { kind: 'intersection', members: [key, word('PropertyKey')] },
    value,
    optional: partial === true || (side === 'input' && isOptional(valueType, side)),
  };
}

/** Whether all that a schema takes can be a property's key. */
function isPropertyKey(schema: Schema): boolean {
  const definition = definitionOf(schema);
  if (definition.type === 'union') return definition.options.every(isPropertyKey);
  if (definition.type === 'string' || definition.type === 'number') return !definition.coerce;
  return definition.type === 'enum' || definition.type === 'template_literal';
}

function functionToType(definition: Kind<'function'>, place: Place, options: TypeOptions): TypeNode {
  const input = definition.input as Schema;
  const inputDefinition = definitionOf(input);
  // z.function() without an input: zod's type takes it for one that nobody may call with arguments.
  const isUnset =
    inputDefinition.type === 'array' && definitionOf(inputDefinition.element).type === 'unknown';
  // A function that is an input is called with what its arguments' schemas give, and gives what its result's takes.
  const argumentsSide = place.side === 'input' ? 'output' : 'input';
  return {
    kind: 'function',
    arguments: isUnset
      ? { kind: 'array', element: word('never') }
      : schemaToType(input, { ...place, path: `${place.path}.arguments`, side: argumentsSide }, options),
    result: schemaToType(definition.output, { ...place, path: `${place.path}.result` }, options),
  };
}

function customToType(schema: Schema, place: Place): TypeNode {
  const { name } = classOf(schema) ?? {};
  const isGlobal = name !== undefined && Reflect.get(globalThis, name) === classOf(schema);
  if (isGlobal) return { kind: 'generic', name: 'InstanceType', arguments: [word(`typeof ${name}`)] };
  return refuse(
    place,
    name === undefined
      ? 'the type of a custom schema leaves no trace at run time'
      : `clients do not have the class ${name}`,
    "State it: .meta({ typescript: '…' })",
  );
}

function refuse({ owner, path }: Place, why: string, remedy = ''): never {
  throw new TypegenError(
    `${owner}: the type of ${path} cannot be written down: ${why}.${remedy && ` ${remedy}.`}`,
  );
}

const isSchema = (part: unknown): part is Schema => typeof part === 'object' && part !== null;

/** zod writes nothing for an `undefined` in a template. */
function templatePart(type: TypeNode): TypeNode {
  if (type.kind !== 'union') return type;
  return union(
    ...type.members.map((each) => (each.kind === 'word' && each.text === 'undefined' ? word("''") : each)),
  );
}
