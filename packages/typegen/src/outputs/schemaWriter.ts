import {
  type Checker,
  ElementFlags,
  SignatureKind,
  SymbolFlags,
  type Symbol as TypeSymbol,
  type TemplateLiteralType,
  type TupleType,
  type Type,
  TypeFlags,
  type TypeReference,
  type UnionOrIntersectionType,
} from 'typescript/unstable/sync';
import { isOfPackage, isOfRuntime, listsOnlyProperties, mayBeDocumented } from './declarations.ts';

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What JSON has of a value; `undefined` for what `JSON.stringify` leaves out: `undefined`, functions and symbols. */
type Described = JsonSchema | undefined;

/** How deep types may be nested. A type that refers to itself with other arguments each time has no end. */
const maxDepth = 60;

const nullSchema: JsonSchema = { type: 'null' };
const nothing: JsonSchema = { not: {} };

/** Classes of the language and of the runtime whose instances JSON does not have: it has an object without their content. */
const classesWithoutJson: ReadonlySet<string> = new Set([
  'ArrayBuffer',
  'Blob',
  'DataView',
  'Error',
  'File',
  'FormData',
  'Headers',
  'Map',
  'Promise',
  'ReadableStream',
  'ReadonlyMap',
  'ReadonlySet',
  'RegExp',
  'Request',
  'Response',
  'Set',
  'SharedArrayBuffer',
  'URLSearchParams',
  'WeakMap',
  'WeakSet',
]);

/** Interfaces of the language whose values may be lists, or anything else. */
const anyIterable = /^(?:Async)?(?:Generator|Iterable|IterableIterator|Iterator|IteratorObject)$|^ArrayLike$/;

const typedArray = /^(?:Big(?:Int|Uint)64|Float(?:16|32|64)|(?:Int|Uint)(?:8|16|32)|Uint8Clamped)Array$/;

interface Definition {
  /** Chosen when the type is referred to, if it is not named before. */
  name: string | undefined;
  schema: JsonSchema | undefined;
}

/**
 * Writes the JSON Schemas of TypeScript types, as `JSON.stringify` writes their values: a `Date` as a text, and no property whose
 * value is `undefined` or a function. Types that the program names are references to `definitions`, and recursive ones.
 */
export class SchemaWriter {
  /** By name. */
  readonly definitions: Record<string, JsonSchema> = {};
  /** A line for each part of a type that is left open, since its values are not known or JSON has none. */
  readonly open: string[] = [];
  readonly #checker: Checker;
  readonly #defined = new Map<Type, Definition>();
  // A question to the compiler takes some 60 µs in the two processes: each is asked once for a type.
  readonly #membersOf = memoize((type: UnionOrIntersectionType) => type.getTypes());
  readonly #argumentsOf = memoize((type: TypeReference) => this.#checker.getTypeArguments(type));
  readonly #presentOf = memoize((type: Type) => this.#checker.getNonNullableType(type));
  readonly #propertiesOf = memoize((type: Type) => this.#checker.getPropertiesOfType(type));
  readonly #indexesOf = memoize((type: Type) =>
    hasOnlyProperties(type) ? [] : this.#checker.getIndexInfosOfType(type),
  );
  readonly #callsOf = memoize((type: Type) =>
    hasOnlyProperties(type) ? [] : this.#checker.getSignaturesOfType(type, SignatureKind.Call),
  );
  readonly #typeOf = new Map<TypeSymbol, Type | undefined>();
  /** Those that were written without a name. */
  readonly #inlined = new Set<Type>();
  /** Those whose `toJSON` may return nothing. */
  readonly #absentByJson = new Set<Type>();
  readonly #names = new Set<string>();
  #isEvent = false;
  /** The procedure and the properties that lead to the type that is written. */
  readonly #path: string[] = [];

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  /** Asks for the types of the properties of these types, of those of their properties and so on: one question for each level. */
  prepare(types: readonly (Type | undefined)[], depth = 0): void {
    const objects = [...new Set(types)].filter((type) => type?.isObjectType() && hasOnlyProperties(type));
    const symbols = objects
      .flatMap((type) => (type ? this.#propertiesOf(type) : []))
      .filter((symbol) => isSent(symbol) && !this.#typeOf.has(symbol));
    if (symbols.length > 0 && depth < maxDepth) this.prepare(this.#typesOf(symbols), depth + 1);
  }

  #typesOf(symbols: readonly TypeSymbol[]): readonly (Type | undefined)[] {
    const asked = symbols.filter((symbol) => !this.#typeOf.has(symbol));
    const types = asked.length > 0 ? this.#checker.getTypeOfSymbol(asked) : [];
    for (const [index, symbol] of asked.entries()) this.#typeOf.set(symbol, types[index]);
    return symbols.map((symbol) => this.#typeOf.get(symbol));
  }

  /**
   * Returns the schema of what a procedure returns: `{ not: {} }` for nothing, also as a member of `anyOf`.
   * @param procedure its path, for the lines of `open`
   * @param isEvent whether it is what a subscription yields: of `tracked()`, the data
   */
  write(procedure: string, type: Type, isEvent = false): JsonSchema {
    this.#isEvent = isEvent;
    const described = this.#at(procedure, () => this.#describe(type));
    if (described === undefined) return nothing;
    return this.#mayBeAbsent(type) ? { anyOf: [described, nothing] } : described;
  }

  #at<Result>(step: string, run: () => Result): Result {
    this.#path.push(step);
    try {
      return run();
    } finally {
      this.#path.pop();
    }
  }

  #leaveOpen(reason: string, schema: JsonSchema = {}): JsonSchema {
    const [procedure, ...steps] = this.#path;
    const where = steps.length > 0 ? steps.join('') : 'the output';
    const line = `${procedure}: ${where} ${reason}`;
    // Members of a union lead to it by the same path.
    if (!this.open.includes(line)) this.open.push(line);
    return schema;
  }

  #describe(type: Type): Described {
    const { flags } = type;
    if (this.#path.length > maxDepth) return this.#leaveOpen('is nested too deeply');
    if (type.isErrorType())
      return this.#leaveOpen('is of a type that the compiler does not find, as tsc says too');
    if (flags & TypeFlags.Any) return this.#leaveOpen('is any');
    if (flags & TypeFlags.Unknown) return this.#leaveOpen('is unknown');
    if (flags & (TypeFlags.Undefined | TypeFlags.Void | TypeFlags.ESSymbolLike)) return undefined;
    if (flags & TypeFlags.Null) return nullSchema;
    if (flags & TypeFlags.Never) return nothing;
    if (flags & TypeFlags.BigIntLike) return this.#leaveOpen('is a bigint, which JSON does not have');
    // Before literals: an enumeration is a union of them, or the only one.
    if (type.isUnionType() || flags & TypeFlags.EnumLiteral)
      return this.#named(type, () => this.#union(type));
    if (type.isLiteralType()) return { const: type.value };
    if (type.isTemplateLiteralType()) return this.#template(type);
    if (flags & TypeFlags.StringLike) return { type: 'string' };
    if (flags & TypeFlags.NumberLike) return { type: 'number' };
    if (flags & TypeFlags.BooleanLike) return { type: 'boolean' };
    if (type.isIntersectionType()) return this.#intersection(type);
    if (flags & TypeFlags.Object) return this.#object(type);
    if (flags & TypeFlags.NonPrimitive) return this.#leaveOpen('is any object');
    const constraint = this.#checker.getBaseConstraintOfType(type);
    return constraint && constraint !== type
      ? this.#describe(constraint)
      : this.#leaveOpen(`is ${this.#checker.typeToString(type)}, which depends on a parameter`);
  }

  /** Writes a type that has a name, or contains itself, as a reference. */
  #named(type: Type, write: () => Described): Described {
    const known = this.#defined.get(type);
    if (known) return this.#refer(known, type);
    const name = this.#nameOf(type) ?? this.#repeated(type);
    const definition: Definition = {
      name: name === undefined ? undefined : this.#free(name),
      schema: undefined,
    };
    this.#defined.set(type, definition);
    const schema = write();
    if (definition.name === undefined || schema === undefined) {
      this.#defined.delete(type);
      this.#inlined.add(type);
      return schema;
    }
    const description = this.#documentation(type.getAliasSymbol() ?? type.getSymbol());
    this.definitions[definition.name] = description === undefined ? schema : { ...schema, description };
    return this.#refer(definition, type);
  }

  #refer(definition: Definition, type: Type): JsonSchema {
    definition.name ??= this.#free(this.#ownName(type) ?? this.#propertyName());
    return { $ref: `#/$defs/${definition.name}` };
  }

  #free(name: string): string {
    let free = name;
    for (let count = 2; this.#names.has(free); count += 1) free = `${name}${count}`;
    this.#names.add(free);
    return free;
  }

  /** Returns the name that the program gives a type, with those of its arguments; `undefined` for none, and for types of packages. */
  #nameOf(type: Type): string | undefined {
    const alias = type.getAliasSymbol();
    const symbol = alias ?? type.getSymbol();
    if (symbol === undefined || !/^[A-Za-z]\w*$/.test(symbol.name)) return undefined;
    const [declaration] = symbol.declarations;
    if (declaration === undefined || isOfPackage(declaration)) return undefined;
    if (!alias && !(symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.Enum)))
      return undefined;
    const given = alias ? type.getAliasTypeArguments() : this.#typeArguments(type);
    const names = given.map((each) => this.#checker.typeToString(each).replaceAll(/\W+/g, '_'));
    const name = [symbol.name, ...names].join('_').replaceAll(/_+$/g, '');
    return name.length > 100 ? undefined : name;
  }

  /** Returns the name of a type of a package that was written before: in full at each place, such types take megabytes. */
  #repeated(type: Type): string | undefined {
    return this.#inlined.has(type) ? this.#ownName(type) : undefined;
  }

  /** Returns the name of a type without those of its arguments, also if a package declares it. */
  #ownName(type: Type): string | undefined {
    return /^[A-Za-z]\w*$/.exec((type.getAliasSymbol() ?? type.getSymbol())?.name ?? '')?.[0];
  }

  /** Returns a name after the property that leads to the type that is written. */
  #propertyName(): string {
    const [name = 'recursive'] = this.#path.findLast((step) => step.startsWith('.'))?.match(/\w+/) ?? [];
    return name.charAt(0).toUpperCase() + name.slice(1);
  }

  #typeArguments(type: Type): readonly Type[] {
    return type.isTypeReference() ? this.#argumentsOf(type).filter((each) => !isThis(each)) : [];
  }

  #documentation(symbol: TypeSymbol | undefined): string | undefined {
    if (!symbol?.declarations.some(mayBeDocumented)) return undefined;
    // The same on every system, whatever ends the lines of a checkout.
    return this.#checker.getDocumentationCommentOfSymbol(symbol).replaceAll('\r\n', '\n').trim() || undefined;
  }

  #union(type: Type): Described {
    const members = type.isUnionType() ? this.#membersOf(type) : [type];
    const isNullish = ({ flags }: Type) => (flags & (TypeFlags.Null | TypeFlags.Undefined)) !== 0;
    if (members.some(isNullish) && !members.every(isNullish)) {
      // The others by their name, which they lose in this union.
      const present = this.#presentOf(type);
      const described = present && this.#describe(present);
      const hasNull = members.some(({ flags }) => flags & TypeFlags.Null);
      return described && hasNull ? nullable(described) : described;
    }
    const constants = new Set<unknown>();
    const others = new Map<string, JsonSchema>();
    for (const member of members) {
      if (member.isLiteralType() && !(member.flags & TypeFlags.BigIntLike)) constants.add(member.value);
      else {
        const described = this.#describe(member);
        if (described) others.set(JSON.stringify(described), described);
      }
    }
    const schemas: JsonSchema[] = [];
    if (constants.has(true) && constants.has(false)) {
      schemas.push({ type: 'boolean' });
      for (const value of [true, false]) constants.delete(value);
    }
    for (const [kind, values] of Map.groupBy(constants, (value) => typeof value))
      schemas.push(values.length === 1 ? { const: values[0] } : { type: kind, enum: values });
    schemas.push(...others.values());
    return schemas.length > 1 ? { anyOf: schemas } : schemas[0];
  }

  /** Of a branded type, such as `string & { __brand: 'Id' }`, JSON has the text. */
  #intersection(type: UnionOrIntersectionType): Described {
    const plain = this.#membersOf(type).find(
      ({ flags }) => !(flags & (TypeFlags.Object | TypeFlags.NonPrimitive)),
    );
    return plain ? this.#describe(plain) : this.#object(type);
  }

  #template(type: TemplateLiteralType): JsonSchema {
    const holes = type.getTypes().map(({ flags }) => {
      if (flags & TypeFlags.NumberLike) return String.raw`-?\d+(?:\.\d+)?(?:e[+-]?\d+)?`;
      return flags & TypeFlags.BigIntLike ? String.raw`-?\d+` : String.raw`[\s\S]*`;
    });
    const parts = type.texts.map(
      (text, at) => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`) + (holes[at] ?? ''),
    );
    return { type: 'string', pattern: `^${parts.join('')}$` };
  }

  #object(type: Type): Described {
    const known = this.#defined.get(type);
    if (known) return this.#refer(known, type);
    const data = this.#isEvent && this.#path.length === 1 ? this.#trackedData(type) : undefined;
    if (data) return this.#describe(data);
    if (type.isTupleType() || (type.isTypeReference() && type.getTarget().isTupleType()))
      return this.#named(type, () => this.#tuple(type));
    if (isArray(type)) return { type: 'array', items: this.#element(this.#argumentsOf(type)[0]) };
    if (runtimeClassOf(type) === 'Date') return { type: 'string', format: 'date-time' };
    if (this.#isCallable(type)) return undefined;
    const properties = this.#propertiesOf(type);
    const toJson = properties.find(({ name }) => name === 'toJSON');
    if (toJson) return this.#at('.toJSON()', () => this.#result(toJson, type));
    const bases = this.#basesOf(type);
    // Such as `JsonArray` of Prisma and `RowList` of postgres.
    if (bases.some(isArray)) return this.#named(type, () => this.#list(type));
    for (const name of [type, ...bases].map(runtimeClassOf)) {
      const isObject = typedArray.test(name) || classesWithoutJson.has(name);
      if (!isObject && !anyIterable.test(name)) continue;
      const own = type.getSymbol()?.name ?? name;
      // A whole output may be sent as bytes.
      const schema = isObject && this.#path.length > 1 ? { type: 'object' } : {};
      return this.#leaveOpen(`is of the class ${own}, which JSON does not have`, schema);
    }
    const isEmpty = properties.length === 0 && this.#indexesOf(type).length === 0;
    if (isEmpty && (type.getSymbol()?.flags ?? 0) & SymbolFlags.TypeLiteral) return this.#leaveOpen('is {}');
    return this.#named(type, () => this.#properties(type, properties));
  }

  /** Returns what an event of `tracked()` has besides its id; `undefined` for another event. */
  #trackedData(type: Type): Type | undefined {
    const symbol = type.getAliasSymbol() ?? type.getSymbol();
    const isTracked =
      symbol?.name === 'TrackedData' &&
      symbol.declarations.some(({ path }) => path.includes('/@trpc/server/'));
    const data = isTracked ? this.#checker.getPropertyOfType(type, 'data') : undefined;
    return data && this.#checker.getTypeOfSymbol(data);
  }

  /** Returns the members of an intersection, or what a class or an interface extends, and what those extend. */
  #basesOf(type: Type): readonly Type[] {
    if (hasOnlyProperties(type)) return [];
    const bases = (type.isIntersectionType() ? this.#membersOf(type) : declaredOf(type).getBaseTypes()) ?? [];
    return bases.concat(bases.flatMap((base) => this.#basesOf(base)));
  }

  /** Of an array with other properties, which JSON does not have. */
  #list(type: Type): JsonSchema {
    const byNumber = this.#indexesOf(type).find(({ keyType }) => keyType.flags & TypeFlags.Number);
    return { type: 'array', items: this.#element(byNumber?.valueType) };
  }

  #isCallable(type: Type): boolean {
    const flags = type.getSymbol()?.flags ?? 0;
    return (flags & (SymbolFlags.Class | SymbolFlags.ObjectLiteral)) === 0 && this.#callsOf(type).length > 0;
  }

  #result(method: TypeSymbol, owner: Type): Described {
    const type = this.#checker.getTypeOfSymbol(method);
    const [signature] = type ? this.#callsOf(type) : [];
    const result = signature && this.#checker.getReturnTypeOfSignature(signature);
    if (result === undefined) return this.#leaveOpen('is not known');
    if (this.#mayBeAbsent(result)) this.#absentByJson.add(owner);
    return this.#describe(result);
  }

  /** An element that JSON does not have is `null`. */
  #element(type: Type | undefined): JsonSchema {
    const described = type && this.#at('[]', () => this.#describe(type));
    if (type === undefined || described === undefined) return nullSchema;
    return this.#mayBeAbsent(type) ? nullable(described) : described;
  }

  #tuple(type: TypeReference): JsonSchema {
    // TypeScript 7.0 leaves out the flags of `[]`.
    const { elementFlags = [] } = type.getTarget() as Partial<TupleType>;
    const elements = this.#argumentsOf(type).map((each) => this.#element(each));
    const rest = elementFlags.findIndex((flags) => flags & ElementFlags.Variable);
    const required = elementFlags.filter((flags) => flags & ElementFlags.Required).length;
    if (rest === -1)
      return {
        type: 'array',
        ...(elements.length > 0 && { prefixItems: elements }),
        items: false,
        minItems: required,
        maxItems: elements.length,
      };
    // After a rest element, JSON Schema has no positions.
    const others = elements.slice(rest);
    return {
      type: 'array',
      ...(rest > 0 && { prefixItems: elements.slice(0, rest) }),
      items: others.length === 1 ? others[0] : { anyOf: others },
      minItems: required,
    };
  }

  #properties(type: Type, all: readonly TypeSymbol[]): JsonSchema {
    const symbols = all.filter((symbol) => isSent(symbol));
    const types = this.#typesOf(symbols);
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const [index, symbol] of symbols.entries()) {
      const { name } = symbol;
      const propertyType = types[index];
      if (propertyType === undefined) continue;
      const schema = this.#at(
        /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
        () => this.#describe(propertyType),
      );
      if (schema === undefined) continue;
      const description = this.#documentation(symbol);
      properties[name] = description === undefined ? schema : { ...schema, description };
      if (!(symbol.flags & SymbolFlags.Optional) && !this.#mayBeAbsent(propertyType)) required.push(name);
    }
    const indexed = this.#indexesOf(type).map(
      ({ valueType }) => this.#at('[key]', () => this.#describe(valueType)) ?? {},
    );
    return {
      type: 'object',
      ...(symbols.length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(indexed.length > 0 && {
        additionalProperties: indexed.length === 1 ? indexed[0] : { anyOf: indexed },
      }),
    };
  }

  /** Whether a value of the type may be one that JSON leaves out. */
  #mayBeAbsent(type: Type): boolean {
    const absent =
      TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Undefined | TypeFlags.Void | TypeFlags.ESSymbolLike;
    if (type.isUnionType()) return this.#membersOf(type).some((member) => this.#mayBeAbsent(member));
    return type.flags & (TypeFlags.Object | TypeFlags.Intersection)
      ? this.#isCallable(type) || this.#absentByJson.has(type)
      : (type.flags & absent) !== 0;
  }
}

const nullable = (schema: JsonSchema): JsonSchema => {
  const { anyOf } = schema;
  return { anyOf: [...(Array.isArray(anyOf) ? (anyOf as readonly JsonSchema[]) : [schema]), nullSchema] };
};

/** Whether the declarations of a type say that it has no signatures and bases, so that the compiler need not be asked for them. */
const hasOnlyProperties = (type: Type): boolean =>
  type.getSymbol()?.declarations.every(listsOnlyProperties) ?? false;

/** Returns the name of a class of the runtime, and `''` of any other type. */
const runtimeClassOf = (type: Type): string => {
  const symbol = type.getSymbol();
  return symbol?.declarations.some(isOfRuntime) ? symbol.name : '';
};

const isArray = (type: Type): type is TypeReference =>
  type.isTypeReference() && /^(?:Readonly)?Array$/.test(runtimeClassOf(type));

/** Returns the declared type of one with arguments. */
const declaredOf = (type: Type): Type => (type.isTypeReference() ? type.getTarget() : type);

const isThis = (type: Type): boolean => type.isTypeParameter() && type.isThisType === true;

/** Whether `JSON.stringify` reads a property: it leaves out those named by symbols, private names, and what a class has on its prototype. */
function isSent(symbol: TypeSymbol): boolean {
  const { escapedName, flags } = symbol;
  if (/^__[@#]/.test(escapedName) || flags & SymbolFlags.Method) return false;
  return !(flags & SymbolFlags.Accessor) || !((symbol.getParent()?.flags ?? 0) & SymbolFlags.Class);
}

/** Returns a function that remembers its results. */
function memoize<Argument, Result>(run: (argument: Argument) => Result): (argument: Argument) => Result {
  const results = new Map<Argument, Result>();
  return (argument) => {
    if (!results.has(argument)) results.set(argument, run(argument));
    return results.get(argument) as Result;
  };
}
