#!/usr/bin/env node
import { typesCommand } from './typesCommand.ts';

const { stdout = '', stderr = '', code } = await typesCommand(process.argv.slice(2));
process.stderr.write(stderr);
// What a router's module opened would keep the process alive.
process.stdout.write(stdout, () => process.exit(code));
