import {
  acceptsUndefined,
  annotations,
  details,
  innermost,
  isAlwaysAbsent,
  isNever,
  isVoid,
  maxDepth,
  parserOf,
  optionalOf,
  requiresNull,
  typeOf,
  valuesOf,
  type Schema,
  type Shape,
} from './schema.ts';

/** What inputs that are objects accept, as one object without a union or an intersection at its top. */
export interface Properties {
  readonly shape: Shape;
  /** The schema of properties with other names that the procedure receives. `undefined` for none. */
  readonly others: Schema | undefined;
  /** Whether any property with another name is accepted too, since the procedure does not receive it. */
  readonly ignoresOthers: boolean;
  /** Whether a strict member of a union rejects them: in an intersection, another part may then accept them. */
  readonly mayReject: boolean;
  /** Whether the input is or contains a union of objects. Only the schema can check which properties belong together. */
  readonly isUnion: boolean;
}

/**
 * `parameters`: each has a name and is converted to its type. `arguments`: JSON, so that a property may also be what
 * another member of a union accepts under any name, and an input a record.
 */
type Sender = 'parameters' | 'arguments';

const none: Properties = {
  shape: {},
  others: undefined,
  ignoresOthers: true,
  mayReject: false,
  isUnion: false,
};

/**
 * Merges the properties of `.input()`s: objects, unions of objects, or empty (`z.void()`). They accept what the
 * inputs do, except a property that one member of a union ignores and another declares with another type. `undefined`
 * if an input is anything else.
 * @param inputs `undefined` for a function
 */
export function inputProperties(
  inputs: readonly (Schema | undefined)[],
  sender: Sender = 'parameters',
): Properties | undefined {
  return inputs.length === 0 ? none : allProperties(inputs, sender, 0);
}

/** Returns the properties of an object, a union of objects, or an intersection of them; `undefined` for anything else. */
export const propertiesOf = (schema: Schema): Properties | undefined => inputProperties([schema]);

/** Whether a schema accepts only objects: an object, a union of objects or a record. */
export function isObjectSchema(schema: Schema): boolean {
  const inner = innermost(schema);
  if (inner === undefined || isAlwaysAbsent(inner)) return false;
  return typeOf(inner) === 'object' || propertiesOf(inner) !== undefined;
}

function allProperties(
  parts: readonly (Schema | undefined)[],
  sender: Sender,
  depth: number,
): Properties | undefined {
  const constrained =
    sender === 'parameters' ? parts : parts.filter((part) => part && !isUnconstrained(part));
  return merge(
    constrained.map((part) => part && ownProperties(part, sender, depth)),
    (all) => intersection(all, sender),
  );
}

/** Merges properties, unless there are none, or those of a part are not known. */
function merge(
  parts: readonly (Properties | undefined)[],
  by: (parts: readonly Properties[]) => Properties,
): Properties | undefined {
  return parts.length > 0 && parts.every((part) => part !== undefined) ? by(parts) : undefined;
}

function ownProperties(schema: Schema, sender: Sender, depth: number): Properties | undefined {
  const inner = depth > maxDepth ? undefined : innermost(schema);
  if (inner === undefined) return undefined;
  if (isVoid(inner) || isNever(inner)) return none;
  const { additionalProperties, allOf = [], properties } = inner;
  const members = inner.anyOf ?? inner.oneOf;
  const isNamed = properties !== undefined || additionalProperties === false;
  const isObject = additionalProperties !== undefined || typeOf(inner) === 'object';
  const parts: (Properties | undefined)[] = [];
  if (isNamed || (isObject && sender === 'arguments')) {
    const hasPatterns = 'patternProperties' in inner;
    const others = additionalProperties === true || hasPatterns ? {} : additionalProperties || undefined;
    const ignoresOthers = additionalProperties === undefined && !hasPatterns;
    parts.push({ ...none, shape: properties ?? {}, others, ignoresOthers });
  }
  if (allOf.length > 0 && (sender === 'parameters' || !allOf.every(isUnconstrained))) {
    parts.push(allProperties(allOf, sender, depth + 1));
  }
  if (members) {
    const present = members.filter((member) => !isAlwaysAbsent(member));
    parts.push(
      merge(
        present.map((member) => allProperties([member], sender, depth + 1)),
        (all) => union(all, sender),
      ),
    );
    if (inner[details]?.mergesLoose) parts.push({ ...none, others: {}, isUnion: true });
  }
  return merge(parts, (all) => intersection(all, sender));
}

/** Whether a schema accepts any value, so that it adds nothing to an intersection. */
function isUnconstrained(schema: Schema): boolean {
  const inner = innermost(schema);
  return inner !== undefined && Object.keys(inner).every((name) => annotations.has(name)) && !isVoid(inner);
}

/**
 * Merges properties that an input has together. One that is required applies to every value; of those that are optional, one of
 * a union may be that of a member that was not sent, and otherwise the last one replaces the others.
 */
function intersection(parts: readonly Properties[], sender: Sender): Properties {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const isUnion = parts.some((part) => part.isUnion);
  const shape = shapeOf(parts, (name) => {
    const schemas = schemasOf(name, parts, sender);
    const required = schemas.findLast((schema) => !acceptsUndefined(schema));
    return required ?? (isUnion ? eitherOf(schemas, true) : (schemas.at(-1) ?? {}));
  });
  // zod rejects an unknown property only if all parts of an intersection do.
  const deciding =
    sender === 'arguments'
      ? parts.find(({ ignoresOthers, mayReject, others }) => others && !ignoresOthers && !mayReject)
      : undefined;
  return {
    shape,
    others: deciding ? deciding.others : othersOf(parts, sender),
    ignoresOthers: !deciding && parts.some(({ ignoresOthers }) => ignoresOthers),
    mayReject: parts.every(rejectsOthers),
    isUnion,
  };
}

/** Merges the members of a union: each property accepts what any accepts, and is required if all members require it. */
function union(parts: readonly Properties[], sender: Sender): Properties {
  const shape = shapeOf(parts, (name) => {
    const isPartial = !parts.every((part) => Object.hasOwn(part.shape, name));
    return eitherOf(schemasOf(name, parts, sender), isPartial);
  });
  return {
    shape,
    others: othersOf(parts, sender),
    ignoresOthers: parts.some(({ ignoresOthers }) => ignoresOthers),
    mayReject: parts.some(rejectsOthers),
    isUnion: true,
  };
}

const rejectsOthers = ({ ignoresOthers, mayReject, others }: Properties): boolean =>
  mayReject || !(others || ignoresOthers);

function shapeOf(parts: readonly Properties[], schemaOf: (name: string) => Schema): Shape {
  const names = new Set(parts.flatMap(({ shape }) => Object.keys(shape)));
  return Object.fromEntries(Array.from(names, (name) => [name, schemaOf(name)]));
}

/** Returns the schemas of a property: of parts that declare it, and as arguments of those that receive it as another one. */
const schemasOf = (name: string, parts: readonly Properties[], sender: Sender): readonly Schema[] =>
  parts.flatMap(({ others, shape }) => {
    if (Object.hasOwn(shape, name)) return shape[name] ?? [];
    return others && sender === 'arguments' ? optionalOf(others) : [];
  });

/** Returns the schema of properties with other names: for parameters that of any value, if parts have different ones. */
function othersOf(parts: readonly Properties[], sender: Sender): Schema | undefined {
  const found = parts.flatMap(({ others }) => others ?? []);
  if (found.length < 2) return found[0];
  return sender === 'parameters' ? {} : eitherOf(found, false);
}

/** Returns the schema of a value that one of several schemas accepts. Constants become one enumeration. */
function eitherOf(all: readonly Schema[], isPartial: boolean): Schema {
  const schemas = [
    ...new Map(all.map((schema) => [parserOf(schema) ?? JSON.stringify(schema), schema])).values(),
  ];
  const [only = {}, ...others] = schemas;
  const schema = others.length === 0 ? only : (enumerationOf(schemas) ?? { anyOf: schemas });
  // All schemas count: one that is left out as equal may be optional, since a member of a nested union lacks it.
  if (!isPartial && !all.some(acceptsUndefined)) return schema;
  const optional = optionalOf(schema);
  return { ...optional, [details]: { ...optional[details], requiresNull: all.some(requiresNull) } };
}

/** Returns the enumeration of the values of several constants or enumerations. `undefined` if a schema is neither. */
function enumerationOf(schemas: readonly Schema[]): Schema | undefined {
  const values = schemas.map((schema) => ('const' in schema ? [schema.const] : schema.enum));
  if (!values.every((each) => each !== undefined)) return undefined;
  const [type, ...otherTypes] = new Set(values.flat().map((value) => typeof value));
  const isTyped = otherTypes.length === 0 && type !== 'object';
  return {
    ...(isTyped && { type: type as string }),
    enum: [...new Set(values.flat())],
    // JSON may not have them.
    [details]: { values: schemas.flatMap((schema) => valuesOf(schema) ?? []) },
  };
}
