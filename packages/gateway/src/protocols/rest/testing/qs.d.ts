/** Types of the one function of qs that tests use. qs has none; `@types/qs` is another package. */
declare module 'qs' {
  export interface StringifyOptions {
    readonly arrayFormat?: 'indices' | 'brackets' | 'repeat' | 'comma';
    readonly encodeValuesOnly?: boolean;
    readonly format?: 'RFC1738' | 'RFC3986';
  }
  export function stringify(value: object, options: StringifyOptions): string;
}
