import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const { platform, arch, version } = process;
const binary = `@uwsjs/${platform}-${arch}-${version.slice(1).split('.')[0]}`;

/** An installed package: its package.json, and its module as text. */
interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly module: string;
}

const loads = 'export const App = () => {};';
/** Fails as 20.69 does: its error contains that of the dynamic loader, or of the missing package. */
const fails = (reason: string) =>
  `throw new Error(${JSON.stringify(`This version of uWS.js\n\n${reason}`)});`;
const noGlibc =
  "Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found (required by uws.node)";

const core = (module: string): InstalledPackage => ({
  name: '@uwsjs/core',
  version: '20.69.0',
  optionalDependencies: { [binary]: '20.69.0' },
  module,
});
const older = (module: string): InstalledPackage => ({ name: 'uws-pack', version: '20.0.8', module });
const withoutBinary = fails(`Error: Cannot find module '${binary}'`);

/** Loads uWebSockets.js in a project with these packages. Resolves with the loaded version, or with the error's message. */
async function load(packages: Readonly<Record<string, InstalledPackage>>, setup = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'addon-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, { module, ...manifest }] of Object.entries(packages)) {
    const path = join(folder, 'node_modules', name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'package.json'), JSON.stringify({ ...manifest, exports: './index.mjs' }));
    await writeFile(join(path, 'index.mjs'), module);
  }
  await cp(new URL('addon.ts', import.meta.url), join(folder, 'addon.ts'));
  await writeFile(
    join(folder, 'main.mjs'),
    `${setup}
    const loaded = await import('./addon.ts').catch(({ name, code, message }) => ({ loadedPackage: \`\${name} \${code}: \${message}\` }));
    console.log(loaded.loadedPackage);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')], {
    // Without the hook of .ci/uws.
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return stdout.trimEnd();
}

it.each([
  [
    '@uwsjs/core is preferred',
    { '@uwsjs/core': core(loads), 'uWebSockets.js': older(loads) },
    '@uwsjs/core 20.69.0',
  ],
  [
    'the package named uWebSockets.js is used if @uwsjs/core does not load',
    { '@uwsjs/core': core(fails(noGlibc)), 'uWebSockets.js': older(loads) },
    'uws-pack 20.0.8',
  ],
  [
    'the official build is used if @uwsjs/core is not installed',
    { 'uWebSockets.js': { name: 'uWebSockets.js', version: '20.69.0', module: loads } },
    'uWebSockets.js 20.69.0',
  ],
])('%s', async (_, packages, loaded) => {
  expect(await load(packages)).toBe(loaded);
});

const start = 'NoBinaryError no-binary: ';
const end = ' Or serve with "trpc-gateway/node".';
/** What Node reports where glibc is 2.36, and on musl. */
const glibc = 'process.report.getReport = () => ({ header: { glibcVersionRuntime: "2.36" } });';
const musl = 'process.report.getReport = () => ({ header: {} });';

it.each<[string, Readonly<Record<string, InstalledPackage>>, setup: string, reason: string]>([
  [
    'no package is installed',
    {},
    glibc.replace('2.36', '2.38'),
    'uWebSockets.js is not installed. Run `npm install @uwsjs/core`.',
  ],
  [
    'no package is installed, and glibc is too old for the newest',
    {},
    glibc,
    'uWebSockets.js is not installed. @uwsjs/core needs glibc 2.38, and this system has glibc 2.36. Use Debian 13, Ubuntu 24.04 or newer. Or use Node 22 with an older build: `npm install uWebSockets.js@npm:uws-pack@20.0.8`.',
  ],
  [
    'an install by another Node left the binary out',
    { '@uwsjs/core': core(withoutBinary) },
    glibc,
    `@uwsjs/core 20.69.0 is installed without ${binary}, its binary for Node ${version}. npm leaves it out when it runs on another Node version or with --omit=optional. Run \`npm install\` again, on this Node.`,
  ],
  [
    'glibc is too old',
    { '@uwsjs/core': core(fails(noGlibc)), 'uWebSockets.js': older(fails('no such file')) },
    glibc,
    '@uwsjs/core 20.69.0 needs glibc 2.99, and this system has glibc 2.36. Use Debian 13, Ubuntu 24.04 or newer. Or use Node 22 with an older build: `npm install uWebSockets.js@npm:uws-pack@20.0.8`.',
  ],
  [
    'libstdc++ is too old',
    { '@uwsjs/core': core(fails(noGlibc.replace('GLIBC_2.99', 'GLIBCXX_3.4.32'))) },
    glibc,
    '@uwsjs/core 20.69.0 needs a libstdc++ with GLIBCXX_3.4.32, and this system has glibc 2.36. Use Debian 13, Ubuntu 24.04 or newer. Or use Node 22 with an older build: `npm install uWebSockets.js@npm:uws-pack@20.0.8`.',
  ],
  [
    'there is no binary for this Node',
    {
      '@uwsjs/core': { ...core(withoutBinary), optionalDependencies: {} },
      'uWebSockets.js': older(fails('no such file')),
    },
    glibc,
    `@uwsjs/core 20.69.0 and uws-pack 20.0.8 have no binary for Node ${version} on ${platform}-${arch}. Use @uwsjs/core on Node 22, 24 or 26, on Linux with glibc, macOS or Windows.`,
  ],
])(
  'if %s, the import of the adapter throws an error that says so, with the fixes',
  async (_, packages, setup, reason) => {
    expect(await load(packages, setup)).toBe(start + reason + end);
  },
);

it.runIf(platform === 'linux')(
  'on musl, the error of the import does not suggest another install',
  async () => {
    expect(await load({ '@uwsjs/core': core(withoutBinary) }, musl)).toBe(
      `${start}@uwsjs/core 20.69.0 has no binary for Node ${version} on linux-${arch} without glibc. Use @uwsjs/core on Node 22, 24 or 26, on Linux with glibc, macOS or Windows.${end}`,
    );
    expect(await load({}, musl)).toBe(
      `${start}uWebSockets.js is not installed. Its binaries need Linux with glibc, macOS or Windows.${end}`,
    );
  },
);

it('the error of a missing binary has the errors of all packages as its cause', async () => {
  const packages = { '@uwsjs/core': core(fails(noGlibc)), 'uWebSockets.js': older(fails('no such file')) };
  const setup = `${glibc}
    await import('./addon.ts').catch(({ cause }) => console.log(cause.errors.map(({ message }) => message.split('\\n')[2]).join()));`;
  expect(await load(packages, setup)).toMatch(/^Error: .*GLIBC_2\.99.*,no such file\n/);
});
