// `npm run example [shelter|login|answers]`: runs an example.
const examples: Readonly<Record<string, string>> = {
  shelter: '../shelter/dev.ts',
  login: './oneLogin/main.ts',
  answers: './answers/main.ts',
};

const [name = ''] = process.argv.slice(2);
const file = examples[name];
const usage = `npm run example ${Object.keys(examples).join('|')}`;
if (file !== undefined) await import(file);
else if (name === '') console.log(usage);
else {
  console.error(`There is no example ${name}: ${usage}`);
  process.exitCode = 2;
}
