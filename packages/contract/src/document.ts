/** What is compared of an OpenAPI 3.1 document; whatever else it has is wording. */
export interface Document {
  readonly servers?: readonly { readonly url: string }[];
  readonly security?: readonly SecurityRequirement[];
  readonly paths?: Readonly<Record<string, PathItem>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, object>>;
  };
}

/** Operations by method, in lower case; `parameters` are those of all of them. */
export type PathItem = { readonly parameters?: readonly Referable<Parameter>[] } & {
  readonly [method in (typeof methods)[number]]?: Operation;
};

export interface Operation {
  readonly operationId?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly Referable<Parameter>[];
  readonly requestBody?: Referable<RequestBody>;
  readonly responses?: Readonly<Record<string, Referable<Response>>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema?: Schema;
}

interface RequestBody {
  readonly required?: boolean;
  readonly content?: Content;
}

export interface Response {
  readonly headers?: Readonly<Record<string, Referable<Header>>>;
  readonly content?: Content;
}

interface Header {
  readonly required?: boolean;
  readonly schema?: Schema;
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type SecurityRequirement = Readonly<Record<string, readonly string[]>>;
export type Referable<T> = T | { readonly $ref: string };

/** A JSON Schema (2020-12). */
export type Schema = boolean | Readonly<Record<string, unknown>>;

export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/**
 * What a reference leads to; anything else is itself.
 * @throws {Error} where it leads nowhere, or out of the document
 */
export function resolve<T>(document: Document, value: Referable<T>): T {
  let found: unknown = value;
  for (const seen = new Set<string>(); isReference(found);) {
    const { $ref } = found;
    if (!$ref.startsWith('#/') || seen.has($ref))
      throw new Error(`The reference ${$ref} cannot be followed.`);
    seen.add($ref);
    found = $ref
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (at as Readonly<Record<string, unknown>> | undefined)?.[part], document);
    if (found === undefined) throw new Error(`The reference ${$ref} leads nowhere.`);
  }
  return found as T;
}

const isReference = (value: unknown): value is { readonly $ref: string } =>
  typeof value === 'object' && value !== null && '$ref' in value && typeof value.$ref === 'string';
