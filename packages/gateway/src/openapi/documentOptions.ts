/** What the OpenAPI document says about the service as a whole. */
export interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** Of the interface: its name, and its SPDX expression. */
  readonly license?: { readonly name: string; readonly identifier?: string };
  /** Tags that group operations, with what each is about. */
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
}

/** The OpenAPI 3.1 document, as JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;
