import type { z } from 'zod';
import {
  acceptsUndefined,
  innermost,
  isAlwaysAbsent,
  isNever,
  isVoid,
  maxDepth,
  optionalOf,
  parserOf,
  typeOf,
  type Schema,
  type Shape,
} from '../../operations/schema.ts';

/** What an input accepts, as far as one object without a union or an intersection at its top can say it. */
export interface ObjectForm {
  readonly shape: Shape;
  /** The schema of properties with other names that the procedure receives. `undefined` for none. */
  readonly others: Schema | undefined;
  /** Whether any property with another name is accepted too, since the procedure does not receive it. */
  readonly ignoresOthers: boolean;
  /** Whether a strict member of a union rejects them: in an intersection, another part may then accept them. */
  readonly mayReject: boolean;
  /** Whether the input is or contains a union of objects. */
  readonly isUnion: boolean;
}

const empty: ObjectForm = {
  shape: {},
  others: undefined,
  ignoresOthers: true,
  mayReject: false,
  isUnion: false,
};

/**
 * Returns the form of inputs that are objects: one, or a chain, whose inputs read the same value. It accepts what they
 * accept, except a property that a member of a union ignores and that another member declares with another type.
 * @returns `undefined` if the value may be anything else than an object
 */
export function objectFormOf(inputs: readonly Schema[], depth = 0): ObjectForm | undefined {
  const constrained = inputs.filter((input) => !isUnconstrained(input));
  const forms = constrained.map((input) => formOf(input, depth));
  return forms.length > 0 && forms.every((form) => form !== undefined) ? intersection(forms) : undefined;
}

function formOf(schema: Schema, depth: number): ObjectForm | undefined {
  const inner = depth > maxDepth ? undefined : innermost(schema);
  if (inner === undefined) return undefined;
  if (isVoid(inner) || isNever(inner)) return empty;
  const { additionalProperties, allOf, properties } = inner;
  const members = inner.anyOf ?? inner.oneOf;
  const isObject = inner.type === 'object' || properties !== undefined || additionalProperties !== undefined;
  const parts: (ObjectForm | undefined)[] = [];
  if (isObject || typeOf(inner) === 'object') {
    const hasPatterns = 'patternProperties' in inner;
    const others = additionalProperties === true || hasPatterns ? {} : additionalProperties || undefined;
    const ignoresOthers = additionalProperties === undefined && !hasPatterns;
    parts.push({ shape: properties ?? {}, others, ignoresOthers, mayReject: false, isUnion: false });
  }
  if (allOf?.some((part) => !isUnconstrained(part))) parts.push(objectFormOf(allOf, depth + 1));
  if (members) {
    const present = members.filter((member) => !isAlwaysAbsent(member));
    const forms = present.map((member) => objectFormOf([member], depth + 1));
    parts.push(forms.every((form) => form !== undefined) && forms.length > 0 ? union(forms) : undefined);
    if (mergesLoose(parserOf(inner))) parts.push({ ...empty, others: {}, isUnion: true });
  }
  return parts.length > 0 && parts.every((part) => part !== undefined) ? intersection(parts) : undefined;
}

/**
 * Whether a schema is an intersection with a union of which a member keeps unknown properties: zod merges the other parts
 * with each member, and leaves that out of the JSON Schema (4.6).
 */
function mergesLoose(parser: z.core.$ZodType | undefined): boolean {
  const { def } = (parser?._zod ?? {}) as Partial<z.core.$ZodTypes['_zod']>;
  return def?.type === 'intersection' && [def.left, def.right].some((part) => hasLooseMember(part));
}

function hasLooseMember({ _zod }: z.core.$ZodType): boolean {
  const { def } = _zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'object') return def.catchall !== undefined && def.catchall._zod.def.type !== 'never';
  const parts = def.type === 'intersection' ? [def.left, def.right] : def.type === 'union' ? def.options : [];
  return parts.some((part) => hasLooseMember(part));
}

const annotations = new Set(['default', 'deprecated', 'description', 'examples', 'title']);

/** Whether a schema accepts any value, so that it adds nothing to an intersection. */
function isUnconstrained(schema: Schema): boolean {
  const inner = innermost(schema);
  return inner !== undefined && Object.keys(inner).every((name) => annotations.has(name)) && !isVoid(inner);
}

/** Merges forms that an input satisfies together. */
function intersection(forms: readonly ObjectForm[]): ObjectForm {
  const [only] = forms;
  if (only && forms.length === 1) return only;
  const isUnion = forms.some((form) => form.isUnion);
  const names = new Set(forms.flatMap(({ shape }) => Object.keys(shape)));
  const shape = Object.fromEntries(
    Array.from(names, (name) => [name, propertyOf(schemasOf(name, forms), isUnion)]),
  );
  // zod rejects an unknown property only if all parts of an intersection do.
  const deciding = forms.find(
    ({ ignoresOthers, mayReject, others }) => others && !ignoresOthers && !mayReject,
  );
  const found = forms.flatMap(({ others }) => others ?? []);
  return {
    shape,
    others: deciding ? deciding.others : found.length > 0 ? eitherOf(found, false) : undefined,
    ignoresOthers: !deciding && forms.some(({ ignoresOthers }) => ignoresOthers),
    mayReject: forms.every(rejectsOthers),
    isUnion,
  };
}

/** Returns the schemas of a property, of forms that declare it and of those that receive it as another one. */
const schemasOf = (name: string, forms: readonly ObjectForm[]): readonly Schema[] =>
  forms.flatMap(({ others, shape }) => {
    if (Object.hasOwn(shape, name)) return shape[name] ?? [];
    return others ? optionalOf(others) : [];
  });

/**
 * Returns the schema of a property of an intersection. One that is required applies to every value; of those that are
 * optional, one of a union may be that of a member that was not sent.
 */
function propertyOf(schemas: readonly Schema[], isUnion: boolean): Schema {
  const required = schemas.findLast((schema) => !acceptsUndefined(schema));
  return required ?? (isUnion ? eitherOf(schemas, true) : (schemas.at(-1) ?? {}));
}

/** Merges the members of a union. A property is required if all members require it. */
function union(forms: readonly ObjectForm[]): ObjectForm {
  const names = new Set(forms.flatMap(({ shape }) => Object.keys(shape)));
  const shape = Object.fromEntries(
    Array.from(names, (name) => {
      const declaring = forms.filter((form) => Object.hasOwn(form.shape, name));
      return [name, eitherOf(schemasOf(name, forms), declaring.length < forms.length)];
    }),
  );
  const others = forms.flatMap((form) => form.others ?? []);
  return {
    shape,
    others: others.length > 0 ? eitherOf(others, false) : undefined,
    ignoresOthers: forms.some(({ ignoresOthers }) => ignoresOthers),
    mayReject: forms.some(rejectsOthers),
    isUnion: true,
  };
}

const rejectsOthers = ({ ignoresOthers, mayReject, others }: ObjectForm): boolean =>
  mayReject || !(others || ignoresOthers);

/** Returns the schema of a value that one of several schemas accepts. Constants become one enumeration. */
function eitherOf(all: readonly Schema[], isPartial: boolean): Schema {
  const schemas = [
    ...new Map(all.map((schema) => [parserOf(schema) ?? JSON.stringify(schema), schema])).values(),
  ];
  const [only = {}, ...others] = schemas;
  const schema = others.length === 0 ? only : (enumerationOf(schemas) ?? { anyOf: schemas });
  // All schemas count: one that is left out as equal may be optional, since a member of a nested union lacks it.
  return isPartial || all.some(acceptsUndefined) ? optionalOf(schema) : schema;
}

/** Returns the enumeration of the values of several constants or enumerations. `undefined` if a schema is neither. */
function enumerationOf(schemas: readonly Schema[]): Schema | undefined {
  const values = schemas.map((schema) => ('const' in schema ? [schema.const] : schema.enum));
  if (!values.every((each) => each !== undefined)) return undefined;
  const [type, ...otherTypes] = new Set(values.flat().map((value) => typeof value));
  const isTyped = otherTypes.length === 0 && type !== 'object';
  return { ...(isTyped && { type: type as string }), enum: [...new Set(values.flat())] };
}
