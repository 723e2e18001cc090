package extract

// Allow gives runs so many steps beside those for the length of their value.
func (p *Program) Allow(steps int) { p.steps = steps }
