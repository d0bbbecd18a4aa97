import {
  type ZodDefinition,
  type ZodSchema,
  classOf,
  definitionOf,
  internalsOf,
  isPreprocess,
  lazyTarget,
  metadataOf,
} from 'trpc-gateway/schemas';
import { enumValues, literalType } from './literalType.ts';
import type { SchemaNames } from './names.ts';
import { isOptionalField, type Side } from './optionality.ts';
import type { SchemaLocation } from './schemaLocation.ts';
import {
  asReadonly,
  generic,
  neverType,
  undefinedType,
  unionOf,
  unknownType,
  excludeUndefined,
  typeToken,
  type Comment,
  type Member,
  type TypeNode,
} from './typeNode.ts';
import { TypegenError } from './typegenError.ts';

export interface TypeOptions {
  readonly names: SchemaNames;
  /**
   * Whether outputs are serialized as JSON, which has no `undefined` and no dates. The types of optional output fields then
   * exclude `undefined`, so that tRPC's `Serialize` keeps the named type, and dates are strings.
   */
  readonly isJson: boolean;
  /**
   * Schemas that keep `undefined` and dates in all their parts. The result of `Serialize` for intersections, index signatures and
   * readonly arrays depends on whether the surrounding type is JSON, and so on the client's `exactOptionalPropertyTypes`.
   * Conversion adds schemas to this set: convert all types again until it no longer grows.
   */
  readonly verbatim: Set<ZodSchema>;
}

type Kind<Type extends ZodDefinition['type']> = Extract<ZodDefinition, { readonly type: Type }>;

/**
 * Converts a zod 4 schema to the type that `z.input` or `z.output` infers. Types that do not exist at run time become their
 * base types: a brand the branded type, a TypeScript enum its values.
 * @throws {TypegenError} if the type is not known at run time and the schema's metadata has no `typescript`
 */
export function schemaToType(schema: ZodSchema, location: SchemaLocation, options: TypeOptions): TypeNode {
  if (location.isVerbatim) options.verbatim.add(schema);
  const isVerbatim = options.verbatim.has(schema);
  return options.names.alias(schema, location, () =>
    definitionToType(schema, { ...location, isVerbatim }, options),
  );
}

function definitionToType(schema: ZodSchema, location: SchemaLocation, options: TypeOptions): TypeNode {
  const { typescript } = metadataOf(schema);
  if (typescript === 'unknown') return unknownType;
  if (typeof typescript === 'string') return { kind: 'raw', text: typescript };
  const definition = definitionOf(schema);
  const { side } = location;
  const isInput = side === 'input';
  const toType: ToType = (inner, step = '') =>
    schemaToType(inner, { ...location, path: `${location.path}${step}` }, options);
  switch (definition.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return isInput && definition.coerce ? unknownType : typeToken(definition.type);
    case 'date':
      if (isInput) return definition.coerce ? unknownType : typeToken('Date');
      // JSON has no dates: without a transformer, a client receives what `Date.prototype.toJSON` returns. A verbatim type
      // leaves them to tRPC's `Serialize`, whose result depends on them.
      return typeToken(options.isJson && location.isVerbatim !== true ? 'string' : 'Date');
    case 'nan':
      return typeToken('number');
    case 'symbol':
    case 'undefined':
    case 'null':
    case 'any':
    case 'unknown':
    case 'never':
    case 'void':
      return typeToken(definition.type);
    case 'file':
      return typeToken('File');
    case 'literal':
      return unionOf(...definition.values.map((value) => literalType(value)));
    case 'enum':
      return unionOf(...enumValues(definition.entries).map((value) => literalType(value)));
    case 'template_literal':
      return {
        kind: 'template',
        parts: definition.parts.map((part) =>
          isSchemaPart(part)
            ? templatePart(toType(part, '${}'))
            : String(part ?? (part === null ? null : '')),
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
      return objectToType(definition, location, options, toType);
    case 'record':
      return recordToType(definition, side, toType);
    case 'union':
      return unionOf(...definition.options.map((option) => toType(option)));
    case 'intersection':
      return {
        kind: 'intersection',
        members: [toType(definition.left), toType(definition.right)],
      };
    case 'function':
      return throwUntypable(location, 'JSON has no functions', "Add .meta({ typescript: '…' }).");
    case 'transform':
      return throwUntypable(
        location,
        'the output of a transform is not known at run time',
        'Add .pipe(schema) after it.',
      );
    case 'custom':
      return customToType(schema, location);
    default:
      return wrapperToType(schema, definition, location, toType);
  }
}

type ToType = (inner: ZodSchema, step?: string) => TypeNode;

/** The definitions whose type follows from the type of one inner schema. */
type Wrapper = Kind<
  | 'optional'
  | 'nullable'
  | 'default'
  | 'prefault'
  | 'nonoptional'
  | 'success'
  | 'catch'
  | 'readonly'
  | 'lazy'
  | 'pipe'
  | 'promise'
>;

function wrapperToType(
  schema: ZodSchema,
  definition: Wrapper,
  location: SchemaLocation,
  toType: ToType,
): TypeNode {
  const isInput = location.side === 'input';
  switch (definition.type) {
    case 'optional':
      return internalsOf(schema).traits.has('$ZodExactOptional')
        ? toType(definition.innerType)
        : unionOf(toType(definition.innerType), undefinedType);
    case 'nullable':
      return unionOf(toType(definition.innerType), typeToken('null'));
    case 'default':
      return isInput
        ? unionOf(toType(definition.innerType), undefinedType)
        : excludeUndefined(toType(definition.innerType));
    case 'prefault':
      return isInput ? unionOf(toType(definition.innerType), undefinedType) : toType(definition.innerType);
    case 'nonoptional':
      return excludeUndefined(toType(definition.innerType));
    case 'success':
      return isInput ? toType(definition.innerType) : typeToken('boolean');
    case 'catch':
      return toType(definition.innerType);
    case 'readonly':
      return (
        asReadonly(toType(definition.innerType)) ??
        throwUntypable(location, 'the result of .readonly() has no name', 'Remove .readonly().')
      );
    case 'lazy':
      return toType(lazyTarget(schema));
    case 'pipe':
      if (!isInput) return toType(definition.out);
      return isPreprocess(definition) ? unknownType : toType(definition.in);
    case 'promise': {
      const promise = generic('Promise', toType(definition.innerType));
      return isInput ? unionOf(toType(definition.innerType), promise) : promise;
    }
    default:
      return throwUntypable(
        location,
        `schemas of the type ${(definition satisfies never as ZodDefinition).type} are not supported by this version`,
      );
  }
}

function objectToType(
  { shape, catchall }: Kind<'object'>,
  { side, isVerbatim = false }: SchemaLocation,
  { isJson }: TypeOptions,
  toType: ToType,
): TypeNode {
  const rest = catchall && definitionOf(catchall).type !== 'never' ? toType(catchall, '[]') : undefined;
  const members = Object.entries(shape).map(([name, field]): Member => ({
    name,
    optional: isOptionalField(field, side),
    type: toType(field, `.${name}`),
    comment: schemaComment(field),
  }));
  if (rest === undefined) {
    if (members.length === 0) return recordType(typeToken('string'), typeToken('never'));
    const isStripped = isJson && side === 'output' && !isVerbatim;
    return { kind: 'object', members: isStripped ? members.map(stripUndefined) : members };
  }
  const isLoose = catchall !== undefined && definitionOf(catchall).type === 'unknown';
  const others: TypeNode = isLoose ? recordType(typeToken('string'), rest) : { kind: 'index', value: rest };
  // Fields need not match the type of the other properties, which no object type literal can express.
  return members.length === 0
    ? others
    : generic('Simplify', { kind: 'intersection', members: [{ kind: 'object', members }, others] });
}

/** Returns the doc comment of a field from its schema, or from the schema that it wraps. */
function schemaComment(schema: ZodSchema): Comment | undefined {
  const { description, deprecated } = metadataOf(schema);
  if (description !== undefined || deprecated) return { text: description, deprecated };
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'catch':
    case 'readonly':
      return schemaComment(definition.innerType);
    case 'pipe':
      return schemaComment(isPreprocess(definition) ? definition.out : definition.in);
    default:
      return undefined;
  }
}

function stripUndefined(member: Member): Member {
  const type = excludeUndefined(member.type);
  return member.optional && type !== neverType ? { ...member, type } : member;
}

const recordType = (key: TypeNode, value: TypeNode): TypeNode => ({
  kind: 'mapped',
  key,
  value,
  optional: false,
});

function tupleToType({ items, rest }: Kind<'tuple'>, side: Side, toType: ToType): TypeNode {
  const lastRequired = items.findLastIndex((item) => !isOptionalField(item, side));
  return {
    kind: 'tuple',
    items: items.map((item, at) => ({ type: toType(item, `[${at}]`), optional: at > lastRequired })),
    rest: rest ? toType(rest, '[]') : undefined,
  };
}

function recordToType({ keyType, valueType, partial }: Kind<'record'>, side: Side, toType: ToType): TypeNode {
  const key = toType(keyType, '.key');
  const value = toType(valueType, '[]');
  // A recursive record comes from a hand-written type with an index signature, such as that of z.json().
  const isRecursive = value.kind === 'reference' && value.to.body() === undefined;
  if (isRecursive && definitionOf(valueType).type === 'lazy' && definitionOf(keyType).type === 'string') {
    return { kind: 'index', value };
  }
  return {
    kind: 'mapped',
    key:
      side === 'output' || isPropertyKey(keyType)
        ? key
        : { kind: 'intersection', members: [key, typeToken('PropertyKey')] },
    value,
    optional: partial === true || (side === 'input' && isOptionalField(valueType, side)),
  };
}

/** Returns true if every input of a schema can be a property key. */
function isPropertyKey(schema: ZodSchema): boolean {
  const definition = definitionOf(schema);
  if (definition.type === 'union') return definition.options.every(isPropertyKey);
  if (definition.type === 'string' || definition.type === 'number') return !definition.coerce;
  return definition.type === 'enum' || definition.type === 'template_literal';
}

function customToType(schema: ZodSchema, location: SchemaLocation): TypeNode {
  const { name } = classOf(schema) ?? {};
  const isGlobal = name !== undefined && Reflect.get(globalThis, name) === classOf(schema);
  if (isGlobal) return { kind: 'generic', name: 'InstanceType', arguments: [typeToken(`typeof ${name}`)] };
  return throwUntypable(
    location,
    name === undefined
      ? 'the type of a custom schema is not known at run time'
      : `clients do not have the class ${name}`,
    "Add .meta({ typescript: '…' }).",
  );
}

function throwUntypable({ owner, path }: SchemaLocation, reason: string, remedy = ''): never {
  throw new TypegenError(
    `${owner}: the type of ${path} cannot be printed: ${reason}.${remedy && ` ${remedy}`}`,
  );
}

const isSchemaPart = (part: unknown): part is ZodSchema => typeof part === 'object' && part !== null;

/** Replaces `undefined` by the empty string, like zod in a template. */
function templatePart(type: TypeNode): TypeNode {
  if (type.kind !== 'union') return type;
  return unionOf(
    ...type.members.map((each) =>
      each.kind === 'token' && each.text === 'undefined' ? typeToken("''") : each,
    ),
  );
}
