// Hot path: every parameter of a path and a query runs through it.
import type { HttpRequest } from '../../http/request.ts';
import { integerPattern, notConvertible, type Converter } from '../../operations/convert.ts';
import type { Parameter, TextParameter, TreeParameter } from '../../operations/parameter.ts';
import type { OperationBody } from '../../operations/operationBody.ts';
import type { QueryNode } from '../../operations/queryTree.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { depthError } from '../../procedures/jsonLimits.ts';
import type { FormField } from './receiveBody.ts';
import { formDecode, headerTexts, percentDecode } from './textParameters.ts';

/** The path of a value in the input: the name of a property, or a list of keys. */
type FieldPath = string | readonly string[];

const toKeys = (path: FieldPath, index?: number): readonly PropertyKey[] => {
  const keys = typeof path === 'string' ? [path] : path;
  return index === undefined ? keys : [...keys, index];
};

/** Parameters by their names in a query or a form. */
interface KnownFields {
  get(name: string): Parameter | undefined;
}

/** How a value is converted and set. */
type ValueFormat = Pick<TextParameter, 'style'> & { readonly converter: Converter };

/** The value of a parameter that was sent more than once. Its request is rejected. */
const repeated = Symbol('repeated');

/** The input of a request while it is read: the values so far, and what is wrong with them. */
export class InputDraft {
  values: Record<string, unknown> = {};
  readonly issues: InputIssue[] = [];
  readonly #maxDepth: number;

  /** @param maxDepth maximum number of brackets in the name of a parameter */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /**
   * Reads the known fields of a query or of an `application/x-www-form-urlencoded` body. Unknown fields are ignored.
   * @param decode returns `undefined` for a text that is rejected, and for an unknown name
   * @throws {LimitError} `json-depth`
   */
  readFields(text: string, known: KnownFields, decode = formDecode): void {
    for (const pair of text.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decode(equals === -1 ? pair : pair.slice(0, equals));
      const parameter = name === undefined ? undefined : known.get(name);
      if (name === undefined || parameter === undefined) continue;
      const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
      if (parameter.style === 'tree') this.#setMember(parameter, name, value);
      else this.#set(parameter.field, parameter, value);
    }
  }

  /** Reads the known fields of a `multipart/form-data` form. Unknown fields are ignored. */
  readForm(form: Iterable<FormField>, known: Pick<OperationBody['fields'], 'get'>): void {
    for (const [name, value] of form) {
      const parameter = known.get(name);
      if (parameter === undefined) continue;
      const { converter, field, style } = parameter;
      const isText = typeof value === 'string';
      // The converter of a file, and of an unknown field, returns it as it is.
      if (isText !== converter.isFile || style === 'any') this.#set(field, parameter, value as string);
      else if (isText) this.issues.push({ ...converter.issue, path: [field], message: 'must be a file' });
      else this.issues.push({ ...converter.issue, path: [field], message: 'must be text, not a file' });
    }
  }

  readHeaders(parameters: readonly TextParameter[], request: HttpRequest): void {
    const texts = headerTexts(parameters, request);
    for (const [index, { converter, field, style }] of parameters.entries()) {
      const received = texts[index] ?? [];
      if (received.length === 0) continue;
      if (style === 'comma') {
        // RFC 9110 §5.6.1.2: ignore empty elements.
        const items = received.flatMap((value) => value?.split(',') ?? []).map((item) => item.trim());
        this.values[field] = items
          .filter((item) => item !== '')
          .map((item) => this.convert(converter, item, field));
      } else if (received.length > 1) {
        this.issues.push({ ...converter.issue, path: [field], message: 'must not be sent more than once' });
      } else {
        this.values[field] = this.convert(converter, received[0], field);
      }
    }
  }

  /**
   * Converts the rest of a path, `{+name}`, not yet percent-decoded: each segment is an item of an array; otherwise,
   * the value is the text with its slashes.
   */
  convertRest({ converter, field }: TextParameter, received: string): unknown {
    const segments = received.split('/').map(percentDecode);
    if (converter.isRepeated) {
      return segments.map((segment, index) => this.convert(converter, segment, field, index));
    }
    const isValid = segments.every((segment) => segment !== undefined);
    return this.convert(converter, isValid ? segments.join('/') : undefined, field);
  }

  /** Converts a text, `undefined` for invalid UTF-8. If that fails, adds an issue and returns `undefined`. */
  convert(converter: Converter, text: string | undefined, path: FieldPath, index?: number): unknown {
    if (text === undefined) {
      const message = 'is not valid percent-encoded UTF-8';
      this.issues.push({ code: 'invalid_format', format: 'utf-8', path: toKeys(path, index), message });
      return undefined;
    }
    const value = converter.convert(text);
    if (value !== notConvertible) return value;
    const message =
      converter.isInteger && integerPattern.test(text)
        ? 'must be within ±(2^53−1); larger integers cannot be represented exactly'
        : `must be ${converter.expects}`;
    this.issues.push({ ...converter.issue, path: toKeys(path, index), message });
    return undefined;
  }

  /** Sets a value of an object whose members are written with brackets: `filter[range][min]=1`. */
  #setMember({ field, place, tree }: TreeParameter, name: string, text: string | undefined): void {
    const brackets = name.slice(place.name.length);
    const keys = /^(?:\[[^[\]]*\])+$/.test(brackets) ? brackets.slice(1, -1).split('][') : [];
    if (keys.length > this.#maxDepth) throw depthError(this.#maxDepth);
    let node: QueryNode | undefined = tree;
    for (const [at, key] of keys.entries()) {
      const parent: QueryNode | undefined = node;
      node = parent.kind === 'object' ? (parent.fields.get(key) ?? parent.others) : undefined;
      // An item of a list
      if (parent.kind === 'list' && at === keys.length - 1 && /^\d*$/.test(key)) {
        node = parent;
        keys.pop();
      }
      if (node === undefined) {
        // A member that the schema does not name is ignored, as an unknown parameter is.
        if (parent.kind === 'object' && !parent.isStrict) return;
        break;
      }
    }
    const leaf = node?.kind === 'list' ? node.item : node;
    if (leaf?.kind !== 'value') {
      const message = `is written as ${JSON.stringify(name)}; write each of its members as ${place.name}[name]`;
      this.issues.push({ code: 'invalid_key', path: [field], message });
      return;
    }
    const path = [field, ...keys];
    let target = this.values as Record<string, Record<string, unknown>>;
    for (const key of path.slice(0, -1)) {
      // Without a prototype, so that `__proto__` becomes an own property, which the schema accepts or rejects.
      if (!Object.hasOwn(target, key)) target[key] = Object.create(null) as Record<string, unknown>;
      target = target[key] as typeof target;
    }
    const style = node?.kind === 'list' ? 'repeat' : 'single';
    this.#set(path, { converter: leaf.converter, style }, text, target);
  }

  /** Converts a value and sets it on `values` by the last key of `path`: for an array, as its next item. */
  #set(
    path: FieldPath,
    { converter, style }: ValueFormat,
    text: string | undefined,
    values: Record<string, unknown> = this.values,
  ): void {
    const key = typeof path === 'string' ? path : (path.at(-1) ?? '');
    const isFirst = !Object.hasOwn(values, key);
    if (style === 'repeat') {
      const items = (isFirst ? (values[key] = []) : values[key]) as unknown[];
      items.push(this.convert(converter, text, path, items.length));
    } else if (isFirst) {
      values[key] = this.convert(converter, text, path);
    } else if (style === 'any') {
      const items = Array.isArray(values[key]) ? values[key] : (values[key] = [values[key]]);
      (items as unknown[]).push(this.convert(converter, text, path, items.length));
    } else if (values[key] !== repeated) {
      // One issue, however often a client repeats the name.
      values[key] = repeated;
      this.issues.push({
        ...converter.issue,
        path: toKeys(path),
        message: 'must not be sent more than once',
      });
    }
  }
}
