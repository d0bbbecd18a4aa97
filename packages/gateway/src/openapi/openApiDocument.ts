/** An OpenAPI document, as JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;
