/** Returns Node options that override `process.versions`. */
export function otherVersions(changed: Readonly<Record<string, string>>): readonly string[] {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(changed)} } })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

/** Simulates a Node version for which no package of uWebSockets.js has a binary. */
export const withoutBinary = otherVersions({ node: '25.0.0', modules: '1' });
