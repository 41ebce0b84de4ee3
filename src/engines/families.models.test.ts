import { openedFamilyCases } from '../../test/contract/engine-family.cases.ts';
import { loadConfig } from '../config/config.ts';
import { FAMILIES } from './families.ts';

const { modelsDir } = loadConfig(process.env);

for (const family of FAMILIES) openedFamilyCases(family, modelsDir);
