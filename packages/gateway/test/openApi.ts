/** What the suites read of an OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses?: Readonly<Record<string, Response>>;
    readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}

export interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly security?: OpenApiDocument['security'];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<
    Record<
      string,
      { readonly required?: boolean; readonly schema?: JsonSchema; readonly description?: string }
    >
  >;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

/** The operations with their addresses, and the JSON pointer of each. */
export function operations(document: OpenApiDocument) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({
        path,
        segments: path.split('/'),
        method: method.toUpperCase(),
        operation,
        pointer: pointer('paths', path, method),
      })),
  );
}

/** A JSON pointer in a URI's fragment (RFC 6901 §6). */
export function pointer(...segments: readonly string[]): string {
  return `#${segments
    .map((segment) => `/${encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')}`;
}

/**
 * What a reference within the document points to; anything else as it is.
 * @throws {Error} where it points to nothing
 */
export function resolve<T extends object>(document: OpenApiDocument, value: T): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value;
  const segments = value.$ref.replace(/^#\/?/, '').split('/');
  // oxlint-disable-next-line typescript/no-explicit-any -- nothing is known of the way to what a reference stands for
  let target: any = document;
  for (const segment of segments) {
    target = target?.[decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (target === undefined) throw new Error(`The document has nothing at ${value.$ref}.`);
  return target;
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
