/**
 * Creates a function that removes a prefix from a request target, and returns `undefined` for other targets.
 * @throws {RangeError} if the prefix does not begin with a slash
 */
export function prefixRemover(prefix = ''): (url: string) => string | undefined {
  const start = prefix.replace(/\/+$/, '');
  if (start === '') return (url) => url;
  if (!start.startsWith('/')) {
    throw new RangeError(`The option prefix is "${prefix}"; it must begin with a slash, such as "/api".`);
  }
  return (url) => {
    if (!url.startsWith(start)) return undefined;
    const rest = url.slice(start.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    return rest.startsWith('/') ? rest : undefined;
  };
}
